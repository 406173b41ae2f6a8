// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/index.h"

#include <cstring>

namespace rushlight::kernels {

namespace {

template <size_t kSize>
void copy_one(char* target, const char* source) {
  constexpr size_t kAlignment = kSize < 8 ? kSize : 8;
  std::memcpy(__builtin_assume_aligned(target, kAlignment), __builtin_assume_aligned(source, kAlignment),
              kSize);
}

template <size_t kSize>
Error read_lane(const IndexLane& lane) {
  return for_each_indexed(lane, [](const char* indexed, char* other) { copy_one<kSize>(other, indexed); });
}

template <size_t kSize>
Error write_lane(const IndexLane& lane) {
  return for_each_indexed(lane, [](char* indexed, const char* other) { copy_one<kSize>(indexed, other); });
}

// The n-th function is for elements of 2^n bytes.
IndexLaneFunction by_size(const IndexLaneFunction (&functions)[5], size_t element) {
  size_t n = 0;
  while (n < 4 && (size_t{1} << n) < element) ++n;
  return functions[n];
}

}  // namespace

IndexLaneFunction index_lane_reader(size_t element) {
  static constexpr IndexLaneFunction kFunctions[] = {read_lane<1>, read_lane<2>, read_lane<4>, read_lane<8>,
                                                     read_lane<16>};
  return by_size(kFunctions, element);
}

IndexLaneFunction index_lane_writer(size_t element) {
  static constexpr IndexLaneFunction kFunctions[] = {write_lane<1>, write_lane<2>, write_lane<4>,
                                                     write_lane<8>, write_lane<16>};
  return by_size(kFunctions, element);
}

Error check_index_dtype(const Tensor& index) {
  const ScalarType type = index.scalar_type();
  RL_CHECK(type == ScalarType::Long || type == ScalarType::Int, Error::InvalidType,
           "index: expected dtype int64 or int32, got %s", to_string(type));
  return Error::Ok;
}

Error check_index(int64_t index, ptrdiff_t size) {
  RL_CHECK(index >= 0 && index < size, Error::InvalidArgument, "index: expected one in [0, %ld), got %ld",
           static_cast<long>(size), static_cast<long>(index));
  return Error::Ok;
}

Error wrap_index(int64_t* index, ptrdiff_t size) {
  RL_CHECK(*index >= -size && *index < size, Error::InvalidArgument,
           "index: expected one in [%ld, %ld), got %ld", -static_cast<long>(size), static_cast<long>(size),
           static_cast<long>(*index));
  if (*index < 0) *index += size;
  return Error::Ok;
}

View at_least_1d(const Tensor& tensor) {
  View view = View::of(tensor);
  if (view.dim == 0) view.insert(0, 1, 0);
  return view;
}

Error for_each_index_lane(const View& index, size_t dim, const View& indexed, const View& other,
                          IndexLaneFunction f) {
  for (size_t d = 0; d < index.dim; ++d) {
    if (index.sizes[d] == 0) return Error::Ok;
  }
  IndexLane lane{index.data,   index.strides[dim],   index.type,
                 indexed.data, indexed.strides[dim], indexed.sizes[dim],
                 other.data,   other.strides[dim],   index.sizes[dim]};
  SizesType position[kTensorDimensionLimit] = {};
  while (true) {
    RL_TRY(f(lane));
    size_t d = index.dim;
    while (d-- > 0) {
      if (d == dim) continue;
      lane.index += index.strides[d];
      lane.indexed += indexed.strides[d];
      lane.other += other.strides[d];
      if (++position[d] < index.sizes[d]) break;
      lane.index -= index.strides[d] * position[d];
      lane.indexed -= indexed.strides[d] * position[d];
      lane.other -= other.strides[d] * position[d];
      position[d] = 0;
    }
    if (d > index.dim) return Error::Ok;
  }
}

Error check_index_shape(const View& index, const View& other, size_t except, const char* name) {
  RL_CHECK(index.dim == other.dim, Error::InvalidArgument,
           "index: expected as many dimensions as %s has, %lu, got %lu", name, log_number(other.dim),
           log_number(index.dim));
  for (size_t d = 0; d < index.dim; ++d) {
    RL_CHECK(d == except || index.sizes[d] <= other.sizes[d], Error::InvalidArgument,
             "index: expected at most %ld in dimension %lu, as %s has, got %ld",
             static_cast<long>(other.sizes[d]), log_number(d), name, static_cast<long>(index.sizes[d]));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
