// SPDX-License-Identifier: BSD-3-Clause
// Element type conversion of strided runs, compiled once for all operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// One element of a run: converts as PyTorch's `to` does. Float to integer truncates; anything to
// bool asks whether it differs from zero (NaN is true); half and bfloat16 go through float. Runs of
// complex numbers are those of their parts: what is real takes the real one.
template <class To, class From>
inline To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}
template <class To>
inline To convert(Half value) {
  return convert<To>(static_cast<float>(value));
}
template <class To>
inline To convert(BFloat16 value) {
  return convert<To>(static_cast<float>(value));
}

// Writes n elements of type `to` at `target` from elements of type `from` at `source`; strides in
// bytes. Both types belong to kConvertibleTypes: kernels check their tensors first.
void convert_run(void* target, ptrdiff_t target_stride, ScalarType to, const void* source,
                 ptrdiff_t source_stride, ScalarType from, size_t n);

// InvalidType unless `type` belongs to kConvertibleTypes.
Error check_convertible(ScalarType type);

}  // namespace rushlight::kernels
