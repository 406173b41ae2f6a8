// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/slicing.h"

#include "kernels/shared/checks.h"

namespace rushlight::kernels {

namespace {

int64_t clamp_position(int64_t position, int64_t size) {
  if (position < 0) position += size;
  if (position < 0) return 0;
  return position > size ? size : position;
}

}  // namespace

Error read_slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                 int64_t step, Slice* slice) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  RL_CHECK(step > 0, Error::InvalidArgument, "step: expected a positive one, got %ld",
           static_cast<long>(step));
  RL_TRY(normalize_dim(dim, self.dim(), &slice->dim));
  const int64_t size = self.sizes()[slice->dim];
  const int64_t first = clamp_position(start.value_or(0), size);
  const int64_t last = clamp_position(end.value_or(size), size);
  const int64_t length = last > first ? (last - first - 1) / step + 1 : 0;
  slice->start = static_cast<ptrdiff_t>(first);
  slice->length = static_cast<ptrdiff_t>(length);
  slice->step = length > 1 ? static_cast<ptrdiff_t>(step) : 1;
  return Error::Ok;
}

Error read_position(const Tensor& self, int64_t dim, int64_t index, size_t* d, ptrdiff_t* position) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  RL_TRY(normalize_dim(dim, self.dim(), d));
  const int64_t size = self.sizes()[*d];
  RL_CHECK(index >= -size && index < size, Error::InvalidArgument,
           "index: expected one in [%ld, %ld), got %ld", -static_cast<long>(size), static_cast<long>(size),
           static_cast<long>(index));
  *position = static_cast<ptrdiff_t>(index < 0 ? index + size : index);
  return Error::Ok;
}

Error check_part_shape(const Tensor& src, const View& part) {
  RL_CHECK(static_cast<size_t>(src.dim()) == part.dim, Error::InvalidArgument,
           "src: expected %lu dimensions, as what it replaces has, got %lu", log_number(part.dim),
           log_number(static_cast<size_t>(src.dim())));
  for (size_t d = 0; d < part.dim; ++d) {
    RL_CHECK(src.sizes()[d] == part.sizes[d], Error::InvalidArgument,
             "src: expected size %ld in dimension %lu, as what it replaces has, got %ld",
             static_cast<long>(part.sizes[d]), log_number(d), static_cast<long>(src.sizes()[d]));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
