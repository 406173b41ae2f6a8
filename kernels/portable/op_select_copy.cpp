// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error select_copy_int_out(KernelContext&, const Tensor& self, int64_t dim, int64_t index, Tensor& out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const int64_t size = self.sizes()[d];
  RL_CHECK(index >= -size && index < size, Error::InvalidArgument,
           "index: expected one in [%ld, %ld), got %ld", -static_cast<long>(size), static_cast<long>(size),
           static_cast<long>(index));
  return copy_to_out(View::of(self).select(d, static_cast<ptrdiff_t>(index < 0 ? index + size : index)), out);
}

}  // namespace rushlight::kernels
