// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Windows of `size` elements, `step` apart, along a dimension: their positions replace the dimension, and
// their elements are a new last one. A view in which windows overlap, then one copy.
Error unfold_copy_out(KernelContext&, const Tensor& self, int64_t dimension, int64_t size, int64_t step,
                      Tensor& out) {
  size_t d = 0;
  RL_TRY(normalize_dim(dimension, self.dim(), &d));
  View source = View::of(self);
  RL_CHECK(source.dim < kTensorDimensionLimit, Error::InvalidArgument, "self: expected rank %lu at most",
           log_number(kTensorDimensionLimit - 1));
  const ptrdiff_t length = source.dim == 0 ? 1 : source.sizes[d];
  const ptrdiff_t stride = source.dim == 0 ? 0 : source.strides[d];
  RL_CHECK(size >= 0 && size <= length, Error::InvalidArgument, "size: expected 0 to %ld, got %ld",
           static_cast<long>(length), static_cast<long>(size));
  RL_CHECK(step > 0, Error::InvalidArgument, "step: expected 1 at least, got %ld", static_cast<long>(step));
  const auto window = static_cast<SizesType>(size);
  if (source.dim > 0) {
    const int64_t steps = (length - window) / step;
    source.slice(d, 0, static_cast<ptrdiff_t>(steps + 1), steps > 0 ? static_cast<ptrdiff_t>(step) : 1);
  }
  source.insert(source.dim, window, stride);
  return copy_to_out(source, out);
}

}  // namespace rushlight::kernels
