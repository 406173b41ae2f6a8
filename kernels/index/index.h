// SPDX-License-Identifier: BSD-3-Clause
// Access by index tensors. Each index is read once, and the value is checked and used: a hostile program may
// alias the memory of tensors, so a second read could return another value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/fibers.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidType unless `index` is int32 or int64.
Error check_index_dtype(const Tensor& index);

// Reads an index. Precondition: `type` is Int or Long.
inline int64_t read_index(const char* at, ScalarType type) {
  return type == ScalarType::Int ? *reinterpret_cast<const int32_t*>(at)
                                 : *reinterpret_cast<const int64_t*>(at);
}

// InvalidArgument, naming index and bound, unless the index is in [0, size).
Error check_index(int64_t index, ptrdiff_t size);

// Maps an index in [-size, size) to [0, size). InvalidArgument, naming index and bound, for others.
Error refuse_wrapped(int64_t index, ptrdiff_t size);
inline Error wrap_index(int64_t* index, ptrdiff_t size) {
  if (*index < -size || *index >= size) return refuse_wrapped(*index, size);
  if (*index < 0) *index += size;
  return Error::Ok;
}

// Visits an index fiber: element i belongs to the element of `indexed` that it selects and to element i of
// `other`. Calls f(indexed element, other element) for each. InvalidArgument at the first index out of range;
// elements before it have been visited.
template <class F>
Error for_each_indexed(const Fiber& indices, ScalarType type, const Fiber& indexed, const Fiber& other, F f) {
  for (ptrdiff_t i = 0; i < indices.size; ++i) {
    const int64_t index = read_index(indices.data + i * indices.stride, type);
    if (index < 0 || index >= indexed.size) return check_index(index, indexed.size);
    f(indexed.data + static_cast<ptrdiff_t>(index) * indexed.stride, other.data + i * other.stride);
  }
  return Error::Ok;
}

// The direction of a copy, as seen from the indexed tensor.
enum class IndexedCopy : uint8_t { kRead, kWrite };

// Copies between the elements of `indexed` that `index` selects along `dim` and the elements of `other`: from
// `indexed` for kRead, to it for kWrite. Shapes must satisfy check_index_shape(). Errors as
// for_each_indexed().
Error copy_indexed(const View& index, size_t dim, const View& indexed, const View& other,
                   IndexedCopy direction);

// The shape rule of gather and scatter for an index and another tensor: equal rank (0-dim counts as 1-dim),
// and no size larger than the other's except along `except`. InvalidArgument, naming `name`.
Error check_index_shape(const View& index, const View& other, size_t except, const char* name);
// For check_index_shape(): no dimension is excepted.
inline constexpr size_t kNoDimension = kTensorDimensionLimit;

}  // namespace rushlight::kernels
