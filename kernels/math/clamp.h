// SPDX-License-Identifier: BSD-3-Clause
// Bounds, and the numbers that they come as.
#pragma once

#include <cstdint>

#include "kernels/elements/convert.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// NaN, be it the number or the bound, gives NaN.
template <class T>
inline T at_least(T x, T bound) {
  return x < bound || bound != bound ? bound : x;
}
template <class T>
inline T at_most(T x, T bound) {
  return x > bound || bound != bound ? bound : x;
}

// The number as an element: a float's whole part where that is an integer, wrapping.
template <class T>
inline T convert_scalar(const Scalar& value) {
  return value.is_floating() ? convert<T>(value.to<double>()) : convert<T>(value.to<int64_t>());
}

// InvalidArgument when `type` is an integer type that does not hold the number.
Error check_fits(const Scalar& value, ScalarType type, const char* name);

}  // namespace rushlight::kernels
