// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/slicing.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

namespace {

// Python's rule for slices: negative positions count from the end, and none is out of range.
int64_t clamp_position(int64_t position, int64_t size) {
  if (position < 0) position += size;
  if (position < 0) return 0;
  return position > size ? size : position;
}

}  // namespace

Error read_slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                 int64_t step, Slice* slice) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  RL_CHECK(step > 0, Error::InvalidArgument, "step: expected 1 or more, got %ld", static_cast<long>(step));
  RL_TRY(normalize_dim(dim, self.dim(), &slice->dim));
  const int64_t size = self.sizes()[slice->dim];
  const int64_t first = clamp_position(start.value_or(0), size);
  const int64_t last = clamp_position(end.value_or(size), size);
  const int64_t length = last > first ? (last - first - 1) / step + 1 : 0;
  slice->start = static_cast<ptrdiff_t>(first);
  slice->length = static_cast<ptrdiff_t>(length);
  // A large step could overflow a stride; with one element it is not needed.
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

// as_strided: positions and strides are in elements of the memory of `self`.
Error read_strided(const Tensor& self, Span<const int64_t> size, Span<const int64_t> stride,
                   std::optional<int64_t> storage_offset, View* view) {
  RL_CHECK(size.size() == stride.size() && size.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "size and stride: expected equal lengths, at most %lu, got %lu and %lu",
           log_number(kTensorDimensionLimit), log_number(size.size()), log_number(stride.size()));
  const auto limit = static_cast<int64_t>(self.numel());
  // `last` is the largest position that the view reaches; it grows dimension by dimension, and the division
  // keeps it from overflowing.
  int64_t last = storage_offset.value_or(0);
  RL_CHECK(last >= 0 && last <= limit, Error::InvalidArgument, "storage_offset: expected 0 to %ld, got %ld",
           static_cast<long>(limit), static_cast<long>(last));
  View& source = *view;
  source = View::of(self);
  const auto element = static_cast<ptrdiff_t>(self.element_size());
  source.data += last * element;
  source.dim = size.size();
  bool empty = false;
  for (const int64_t count : size) empty |= count == 0;
  for (size_t d = 0; d < source.dim; ++d) {
    RL_CHECK(size[d] >= 0 && size[d] <= INT32_MAX && stride[d] >= 0, Error::InvalidArgument,
             "dimension %lu: expected a size and a stride of 0 at least, got %ld and %ld", log_number(d),
             static_cast<long>(size[d]), static_cast<long>(stride[d]));
    source.sizes[d] = static_cast<SizesType>(size[d]);
    // Such a dimension never advances, so its stride may have any value.
    if (size[d] <= 1 || empty) {
      source.strides[d] = 0;
      continue;
    }
    RL_CHECK(stride[d] <= (limit - last) / (size[d] - 1), Error::InvalidArgument,
             "dimension %lu: %ld steps of %ld elements leave the memory of %ld", log_number(d),
             static_cast<long>(size[d] - 1), static_cast<long>(stride[d]), static_cast<long>(limit));
    last += stride[d] * (size[d] - 1);
    source.strides[d] = static_cast<ptrdiff_t>(stride[d]) * element;
  }
  RL_CHECK(empty || last < limit, Error::InvalidArgument, "expected elements below %ld, got one at %ld",
           static_cast<long>(limit), static_cast<long>(last));
  return Error::Ok;
}

// A part is replaced by a tensor of the same shape: no broadcasting.
Error check_part_shape(const Tensor& src, const View& part) {
  RL_CHECK(static_cast<size_t>(src.dim()) == part.dim, Error::InvalidArgument,
           "src: expected %lu dimensions, got %lu", log_number(part.dim),
           log_number(static_cast<size_t>(src.dim())));
  for (size_t d = 0; d < part.dim; ++d) {
    RL_CHECK(src.sizes()[d] == part.sizes[d], Error::InvalidArgument,
             "src: expected size %ld in dimension %lu, got %ld", static_cast<long>(part.sizes[d]),
             log_number(d), static_cast<long>(src.sizes()[d]));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
