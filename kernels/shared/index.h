// SPDX-License-Identifier: BSD-3-Clause
// Indices that come in tensors. An index is read once and that value is checked and used: memory may be
// shared between tensors, so that reading it again could give another one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/shared/view.h"
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

// A View of a tensor in which a 0-dim one has its element along one dimension.
View at_least_1d(const Tensor& tensor);

// The elements of an index tensor along one dimension. Element i goes with the one of `indexed` that it
// names and with the i-th of `other`. Strides in bytes.
struct IndexLane {
  const char* index;
  ptrdiff_t index_stride;
  ScalarType index_type;
  char* indexed;
  ptrdiff_t indexed_stride;
  ptrdiff_t indexed_size;
  char* other;
  ptrdiff_t other_stride;
  ptrdiff_t size;
};

// f(indexed element, other element) for every element of the lane. InvalidArgument for an index out of
// range, at which it stops.
template <class F>
Error for_each_indexed(const IndexLane& lane, F f) {
  const char* at = lane.index;
  char* other = lane.other;
  for (ptrdiff_t i = 0; i < lane.size; ++i, at += lane.index_stride, other += lane.other_stride) {
    const int64_t index = read_index(at, lane.index_type);
    if (index < 0 || index >= lane.indexed_size) return check_index(index, lane.indexed_size);
    f(lane.indexed + static_cast<ptrdiff_t>(index) * lane.indexed_stride, other);
  }
  return Error::Ok;
}

using IndexLaneFunction = Error (*)(const IndexLane& lane);

// Calls f for every lane of `index` along `dim`. Views have the rank of `index`, and every other
// dimension of theirs is as large as that of `index` at least, as is `dim` of `other`.
Error for_each_index_lane(const View& index, size_t dim, const View& indexed, const View& other,
                          IndexLaneFunction f);

// Lane functions that copy elements of `element` bytes: from `indexed` to `other`, and back.
IndexLaneFunction index_lane_reader(size_t element);
IndexLaneFunction index_lane_writer(size_t element);

// What gather and scatter demand of an index beside another tensor: the same rank, where 0-dim counts
// as 1-dim, and no size larger than the other's except along `except`. InvalidArgument.
Error check_index_shape(const View& index, const View& other, size_t except, const char* name);
inline constexpr size_t kNoDimension = kTensorDimensionLimit;

}  // namespace rushlight::kernels
