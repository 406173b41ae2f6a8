// SPDX-License-Identifier: BSD-3-Clause
// A Python number (int, float or bool) as an operator argument, like at::Scalar. Kernels take one where
// PyTorch's schema says Scalar, and convert it to the dtype in which they compute:
//
//   const auto alpha = scalar.to<float>();
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/base/checked.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

// Holds 64 bits and the kind. A float is float64, as in Python; an int is an int64.
class Scalar {
 public:
  Scalar(int64_t value) : kind_(Kind::Int) { value_.as_int = value; }       // NOLINT: implicit by design
  Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}                // NOLINT: implicit by design
  Scalar(double value) : kind_(Kind::Double) { value_.as_double = value; }  // NOLINT: implicit by design
  Scalar(bool value) : kind_(Kind::Bool) { value_.as_int = value; }         // NOLINT: implicit by design

  // Returns true for a Python float.
  [[nodiscard]] bool is_floating() const { return kind_ == Kind::Double; }
  // Returns true for an int, and for a bool if `include_bool`.
  [[nodiscard]] bool is_integral(bool include_bool) const {
    return kind_ == Kind::Int || (include_bool && kind_ == Kind::Bool);
  }
  // Returns true for a Python bool.
  [[nodiscard]] bool is_bool() const { return kind_ == Kind::Bool; }

  // Converts as C++ does, or as truncate() (checked.h) where C++ leaves the result undefined. T is an
  // arithmetic type, Half or BFloat16; the last two are rounded from float. As bool, any nonzero number is
  // true.
  template <class T>
  [[nodiscard]] T to() const {
    if (kind_ == Kind::Double) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        return truncate<T>(value_.as_double);
      } else {
        return static_cast<T>(value_.as_double);
      }
    }
    return static_cast<T>(value_.as_int);
  }

  // The dtype of a rank-0 tensor that PyTorch creates from this number: float32, int64 or bool. It does not
  // depend on the value.
  [[nodiscard]] ScalarType type() const {
    return kind_ == Kind::Double ? ScalarType::Float
                                 : (kind_ == Kind::Int ? ScalarType::Long : ScalarType::Bool);
  }

 private:
  enum class Kind : uint8_t { Int, Double, Bool };
  union {
    int64_t as_int;
    double as_double;
  } value_;
  Kind kind_;
};

}  // namespace rushlight
