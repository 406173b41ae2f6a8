// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Positions count from the end when negative, and stop at both ends.
int64_t clamp_position(int64_t position, int64_t size) {
  if (position < 0) position += size;
  if (position < 0) return 0;
  return position > size ? size : position;
}

}  // namespace

Error slice_copy_Tensor_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> start,
                            std::optional<int64_t> end, int64_t step, Tensor& out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  RL_CHECK(step > 0, Error::InvalidArgument, "step: expected a positive one, got %ld",
           static_cast<long>(step));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const int64_t size = self.sizes()[d];
  const int64_t first = clamp_position(start.value_or(0), size);
  const int64_t last = clamp_position(end.value_or(size), size);
  const int64_t length = last > first ? (last - first - 1) / step + 1 : 0;
  return copy_to_out(View::of(self).slice(d, static_cast<ptrdiff_t>(first), static_cast<ptrdiff_t>(length),
                                          length > 1 ? static_cast<ptrdiff_t>(step) : 1),
                     out);
}

}  // namespace rushlight::kernels
