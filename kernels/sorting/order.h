// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's order of elements, in which NaN is the largest number, and sorting by it without memory of
// its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

template <class T>
inline bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

// Writes for each of n elements, `stride` bytes apart, an integer: where it is less, the element comes
// first in the order. Of a descending order the larger element does. NaN is last in an ascending order and
// first in a descending one, or always first. `type` is in this build.
enum class NanPlace : uint8_t { kAsLargest, kFirst };
void order_keys(const char* source, ptrdiff_t stride, ScalarType type, size_t n, bool descending,
                NanPlace nan, int64_t* keys);

// InvalidType unless `indices`, an output, holds int64.
Error check_indices_dtype(const Tensor& indices);

// Ranks every fiber of `self` along `dim` and keeps `count` elements of each, equal ones in their order.
// `values` and `indices` are given the shape of `self` with this size there. Errors: InvalidArgument
// (shapes), InvalidType (of `self`, unless one of `types`; of the outputs).
Error rank_fibers(TypeSet types, const Tensor& self, size_t dim, ptrdiff_t count, bool descending,
                  const Tensor& values, const Tensor& indices);

}  // namespace rushlight::kernels
