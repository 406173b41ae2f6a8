// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The strides count elements of self's memory, whatever its dimension order.
Error as_strided_copy_out(KernelContext&, const Tensor& self, Span<const int64_t> size,
                          Span<const int64_t> stride, std::optional<int64_t> storage_offset, Tensor& out) {
  RL_CHECK(size.size() == stride.size() && size.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "size and stride: expected as many of each, at most %lu, got %lu and %lu",
           log_number(kTensorDimensionLimit), log_number(size.size()), log_number(stride.size()));
  const auto limit = static_cast<int64_t>(self.numel());
  int64_t last = storage_offset.value_or(0);
  RL_CHECK(last >= 0 && last <= limit, Error::InvalidArgument, "storage_offset: expected 0 to %ld, got %ld",
           static_cast<long>(limit), static_cast<long>(last));
  View source = View::of(self);
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
  return copy_to_out(source, out);
}

}  // namespace rushlight::kernels
