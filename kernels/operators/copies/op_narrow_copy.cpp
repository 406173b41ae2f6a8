// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Unlike slices, positions are not clamped: a range beyond the dimension is an error.
Error narrow_copy_out(KernelContext&, const Tensor& self, int64_t dim, int64_t start, int64_t length,
                      Tensor& out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const int64_t size = self.sizes()[d];
  RL_CHECK(start >= -size && start <= size, Error::InvalidArgument, "start: expected %ld to %ld, got %ld",
           -static_cast<long>(size), static_cast<long>(size), static_cast<long>(start));
  if (start < 0) start += size;
  RL_CHECK(length >= 0 && length <= size - start, Error::InvalidArgument,
           "length: expected 0 to %ld, got %ld", static_cast<long>(size - start), static_cast<long>(length));
  return copy_to_out(View::of(self).slice(d, static_cast<ptrdiff_t>(start), static_cast<ptrdiff_t>(length)),
                     out);
}

}  // namespace rushlight::kernels
