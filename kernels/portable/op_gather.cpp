// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/index.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The sparse gradient matters to training only.
Error gather_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, bool, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const View source = at_least_1d(self);
  const View places = at_least_1d(index);
  // An empty index may have any dtype and shape, as in PyTorch.
  if (index.numel() == 0) return resize_out(out, index.sizes());
  RL_TRY(check_index_dtype(index));
  RL_TRY(check_index_shape(places, source, d, "self"));
  RL_TRY(resize_out(out, index.sizes()));
  return copy_indexed(places, d, source, at_least_1d(out), IndexedCopy::kRead);
}

}  // namespace rushlight::kernels
