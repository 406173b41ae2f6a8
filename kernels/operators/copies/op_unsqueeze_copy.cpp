// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// A new dimension of size 1 at `dim`, which may be the rank itself; -1 appends.
Error unsqueeze_copy_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  RL_CHECK(self.dim() < static_cast<ptrdiff_t>(kTensorDimensionLimit), Error::InvalidArgument,
           "self: expected fewer than %d dimensions", static_cast<int>(kTensorDimensionLimit));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim() + 1, &d));
  return copy_to_out(View::of(self).insert(d, 1, 0), out);
}

}  // namespace rushlight::kernels
