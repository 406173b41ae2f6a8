// SPDX-License-Identifier: BSD-3-Clause
// Clamping, and the conversion of scalar bounds. Propagates NaN, as torch.clamp does, unlike std::fmax and
// std::fmin.
#pragma once

#include <cstdint>

#include "kernels/elements/convert.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// Maximum and minimum; NaN in either operand gives NaN: a NaN x fails the comparison and is returned.
template <class T>
inline T at_least(T x, T bound) {
  return x < bound || bound != bound ? bound : x;
}
template <class T>
inline T at_most(T x, T bound) {
  return x > bound || bound != bound ? bound : x;
}

// Converts a scalar to T; a floating one is truncated for integer types, and wraps.
template <class T>
inline T convert_scalar(const Scalar& value) {
  return value.is_floating() ? convert<T>(value.to<double>()) : convert<T>(value.to<int64_t>());
}

// InvalidArgument if `type` is an integer type that cannot hold the value, or a floating type that would
// overflow (see check_scalar_range()). Unlike that, it does not wrap negative values for unsigned types.
Error check_fits(const Scalar& value, ScalarType type, const char* name);

}  // namespace rushlight::kernels
