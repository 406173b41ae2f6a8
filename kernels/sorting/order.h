// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's order of elements, in which NaN is the largest value, and sorting by it without scratch memory.
// Keys are int64: the bits of a float, mapped to integers of the same order, so that comparisons are compiled
// once for all dtypes. -0.0 and 0.0 have equal keys.
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

// Writes an integer key for each of n elements, `stride` bytes apart: elements with smaller keys come first
// in the order, ascending or descending. NaN is last in an ascending order and first in a descending one, or
// always first with kFirst. Precondition: `type` is selected.
enum class NanOrder : uint8_t { kAsLargest, kFirst };
void order_keys(const char* source, ptrdiff_t stride, ScalarType type, size_t n, bool descending,
                NanOrder nan, int64_t* keys);

// InvalidType unless `indices`, an output, is int64, as all operators with indices as results require.
Error check_indices_dtype(const Tensor& indices);

// Keeps the first `count` elements in the order of every fiber of `self` along `dim`, sorted; equal elements
// keep their order. Resizes `values` and `indices`, whose memory holds the heap. For sort (count = size) and
// topk. Cost: n log(count) comparisons for each fiber. Errors: InvalidArgument (shapes), InvalidType (`self`
// not in `types`, outputs).
Error rank_fibers(TypeSet types, const Tensor& self, size_t dim, ptrdiff_t count, bool descending,
                  const Tensor& values, const Tensor& indices);

}  // namespace rushlight::kernels
