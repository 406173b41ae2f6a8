// SPDX-License-Identifier: BSD-3-Clause
// Moves elements by size, so five loops serve all dtypes.
#include "kernels/index/index.h"

#include <cstring>

namespace rushlight::kernels {

namespace {

// The context of a fiber function.
struct IndexedFibers {
  ScalarType index_type;
  IndexedCopy direction;
};

template <size_t kSize>
void copy_one(char* target, const char* source) {
  // complex128 is aligned like its parts.
  constexpr size_t kAlignment = kSize < 8 ? kSize : 8;
  std::memcpy(__builtin_assume_aligned(target, kAlignment), __builtin_assume_aligned(source, kAlignment),
              kSize);
}

// `fibers` has one fiber each of the index, the indexed tensor and the other tensor.
template <size_t kSize>
Error copy_fiber(void* context, const Fiber* fibers) {
  const IndexedFibers& of = *static_cast<const IndexedFibers*>(context);
  if (of.direction == IndexedCopy::kRead) {
    return for_each_indexed(fibers[0], of.index_type, fibers[1], fibers[2],
                            [](const char* indexed, char* other) { copy_one<kSize>(other, indexed); });
  }
  return for_each_indexed(fibers[0], of.index_type, fibers[1], fibers[2],
                          [](char* indexed, const char* other) { copy_one<kSize>(indexed, other); });
}

// One loop for each element size, selected once for a call.
FiberFunction copier_of(size_t element) {
  switch (element) {
    case 1:
      return copy_fiber<1>;
    case 2:
      return copy_fiber<2>;
    case 4:
      return copy_fiber<4>;
    case 8:
      return copy_fiber<8>;
    default:
      return copy_fiber<16>;
  }
}

}  // namespace

Error check_index_dtype(const Tensor& index) {
  const ScalarType type = index.scalar_type();
  RL_CHECK(type == ScalarType::Long || type == ScalarType::Int, Error::InvalidType,
           "index: expected dtype int64 or int32, got %s", to_string(type));
  return Error::Ok;
}

// Logs the bound; loops test inline and call this only for an invalid index.
Error check_index(int64_t index, ptrdiff_t size) {
  RL_CHECK(index >= 0 && index < size, Error::InvalidArgument, "index: expected one in [0, %ld), got %ld",
           static_cast<long>(size), static_cast<long>(index));
  return Error::Ok;
}

Error refuse_wrapped(int64_t index, ptrdiff_t size) {
  RL_CHECK(false, Error::InvalidArgument, "index: expected one in [%ld, %ld), got %ld",
           -static_cast<long>(size), static_cast<long>(size), static_cast<long>(index));
}

Error copy_indexed(const View& index, size_t dim, const View& indexed, const View& other,
                   IndexedCopy direction) {
  const View views[] = {index, indexed, other};
  IndexedFibers fibers{index.type, direction};
  return for_each_fiber(views, dim, copier_of(element_size(indexed.type)), &fibers);
}

// PyTorch's rule: an index may be smaller than the tensor, and then leaves the rest of it alone.
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
