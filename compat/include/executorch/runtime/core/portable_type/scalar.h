// SPDX-License-Identifier: BSD-3-Clause
// A number as an operator argument: rushlight::Scalar with the official members.
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
  Scalar() : Base(int64_t{0}) {}
  template <class T, std::enable_if_t<std::is_integral_v<T>, bool> = true>
  Scalar(T value) : Base(static_cast<int64_t>(value)) {}
  Scalar(bool value) : Base(value) {}
  Scalar(double value) : Base(value) {}
  Scalar(BFloat16 value) : Base(static_cast<double>(static_cast<float>(value))) {}
  Scalar(Half value) : Base(static_cast<double>(static_cast<float>(value))) {}
  explicit Scalar(Base value) : Base(value) {}

  // T is double, int64_t or bool and must match the number's kind, except that a bool can be read as int64_t.
  // Aborts otherwise.
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

  bool isIntegral(bool includeBool) const { return is_integral(includeBool); }
  bool isFloatingPoint() const { return is_floating(); }
  bool isBoolean() const { return is_bool(); }
};

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Scalar;
}
