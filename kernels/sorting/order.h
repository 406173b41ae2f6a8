// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's order of elements, in which NaN is the largest value, and sorting by it.
// Keys are int64: the bits of a float, mapped to integers of the same order, so that comparisons are compiled
// once for all dtypes. -0.0 and 0.0 have equal keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/walk/fibers.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
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

// Calls see(first, keys, n) for the keys of a fiber, `n` at a time and NaN as the largest value, until it
// returns false.
template <class F>
void for_each_keys(const Fiber& fiber, ScalarType type, bool descending, F see) {
  constexpr ptrdiff_t kLength = 128;
  int64_t keys[kLength];
  for (ptrdiff_t first = 0; first < fiber.size; first += kLength) {
    const ptrdiff_t n = fiber.size - first < kLength ? fiber.size - first : kLength;
    order_keys(fiber.data + first * fiber.stride, fiber.stride, type, static_cast<size_t>(n), descending,
               NanOrder::kAsLargest, keys);
    if (!see(first, static_cast<const int64_t*>(keys), n)) return;
  }
}

// A key with the position of its element.
struct KeyedPosition {
  int64_t key;
  int64_t position;
};

// Writes the keys of all elements of a fiber, in the order of their positions.
void read_keys(const Fiber& fiber, ScalarType type, bool descending, KeyedPosition* entries);

// Sorts by key; equal keys keep their order. `buffer` holds as many entries. Radix sort by bytes that skips
// bytes in which all keys agree: time linear in the count and in the bytes of the range of keys.
void sort_by_key(KeyedPosition* entries, KeyedPosition* buffer, size_t count);

// InvalidType unless `indices`, an output, is int64, as all operators with indices as results require.
Error check_indices_dtype(const Tensor& indices);

// Keeps the first `count` elements in the order of every fiber of `self` along `dim`, sorted; equal elements
// keep their order. Resizes `values` and `indices`. For sort (count = size) and topk. Builds for speed sort
// by keys in 32 bytes of scratch memory for each element of a fiber. Without that memory, for few elements of
// many, and in builds for size: heap selection and heapsort in the memory of the results, with n log(count)
// comparisons for each fiber. Errors: InvalidArgument (shapes), InvalidType (`self`
// not in `types`, outputs).
Error rank_fibers(KernelContext& context, TypeSet types, const Tensor& self, size_t dim, ptrdiff_t count,
                  bool descending, const Tensor& values, const Tensor& indices);

}  // namespace rushlight::kernels
