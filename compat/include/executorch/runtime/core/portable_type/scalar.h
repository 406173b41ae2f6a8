// SPDX-License-Identifier: BSD-3-Clause
// A number as an operator argument: rushlight::Scalar with the official members. Holds an int64, a double or
// a bool, and which of them.
//
//   const Scalar alpha = 2;
//   alpha.isIntegral(false);    // true
//   alpha.to<int64_t>();        // 2; to<double>() aborts
#pragma once

#include <cstdint>
#include <type_traits>

#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/platform/assert.h>

#include "runtime/tensor/scalar.h"

namespace executorch::runtime::etensor {

class Scalar : public rushlight::Scalar {
  using Base = rushlight::Scalar;

 public:
  // The integer 0.
  Scalar() : Base(int64_t{0}) {}
  // Any integer, as int64; a uint64 beyond its range wraps.
  template <class T, std::enable_if_t<std::is_integral_v<T>, bool> = true>
  Scalar(T value) : Base(static_cast<int64_t>(value)) {}
  // A bool stays a bool. Floating-point types become a double, without loss.
  Scalar(bool value) : Base(value) {}
  Scalar(double value) : Base(value) {}
  Scalar(BFloat16 value) : Base(static_cast<double>(static_cast<float>(value))) {}
  Scalar(Half value) : Base(static_cast<double>(static_cast<float>(value))) {}
  // The same number under the other type.
  explicit Scalar(Base value) : Base(value) {}

  // T is double, int64_t or bool and must match the number's kind, except that a bool can be read as int64_t.
  // Aborts otherwise: an int is not read as double. The base class's to<T>() converts instead.
  template <class T>
  T to() const {
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, int64_t> || std::is_same_v<T, bool>);
    if constexpr (std::is_same_v<T, double>) {
      ET_CHECK_MSG(isFloatingPoint(), "Scalar: expected a double");
    } else if constexpr (std::is_same_v<T, bool>) {
      ET_CHECK_MSG(isBoolean(), "Scalar: expected a bool");
    } else {
      ET_CHECK_MSG(isIntegral(true), "Scalar: expected an int or a bool");
    }
    return Base::to<T>();
  }

  // True for an int, and for a bool if `includeBool`.
  bool isIntegral(bool includeBool) const { return is_integral(includeBool); }
  // True for a double, and for a number that was made from a 16-bit float.
  bool isFloatingPoint() const { return is_floating(); }
  // True for a bool.
  bool isBoolean() const { return is_bool(); }
};

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Scalar;
}
