// SPDX-License-Identifier: BSD-3-Clause
// Indices that come in tensors. An index is read once and that value is checked and used: memory may be
// shared between tensors, so that reading it again could give another one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/fibers.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidType unless `index` holds int32 or int64.
Error check_index_dtype(const Tensor& index);

inline int64_t read_index(const char* at, ScalarType type) {
  return type == ScalarType::Int ? *reinterpret_cast<const int32_t*>(at)
                                 : *reinterpret_cast<const int64_t*>(at);
}

// InvalidArgument naming the index and the bound unless it is in [0, size).
Error check_index(int64_t index, ptrdiff_t size);

// Takes an index of [-size, size) to [0, size). InvalidArgument naming index and bound.
Error wrap_index(int64_t* index, ptrdiff_t size);

// Visits an index tensor along one dimension: element i goes with the element of `indexed` that it names
// and with the i-th of `other`. f(indexed element, other element) for all of them.
// InvalidArgument for an index out of range, at which it stops.
template <class F>
Error for_each_indexed(const Fiber& indices, ScalarType type, const Fiber& indexed, const Fiber& other, F f) {
  for (ptrdiff_t i = 0; i < indices.size; ++i) {
    const int64_t index = read_index(indices.data + i * indices.stride, type);
    if (index < 0 || index >= indexed.size) return check_index(index, indexed.size);
    f(indexed.data + static_cast<ptrdiff_t>(index) * indexed.stride, other.data + i * other.stride);
  }
  return Error::Ok;
}

enum class IndexedCopy : uint8_t { kRead, kWrite };

// Copies between the elements of `indexed` that `index` names along `dim` and those of `other`, from
// `indexed` when it reads. Shapes as check_index_shape demands them. Errors: as for_each_indexed.
Error copy_indexed(const View& index, size_t dim, const View& indexed, const View& other,
                   IndexedCopy direction);

// What gather and scatter demand of an index beside another tensor: the same rank, where 0-dim counts
// as 1-dim, and no size larger than the other's except along `except`. InvalidArgument.
Error check_index_shape(const View& index, const View& other, size_t except, const char* name);
inline constexpr size_t kNoDimension = kTensorDimensionLimit;

}  // namespace rushlight::kernels
