// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error transpose_copy_int_out(KernelContext&, const Tensor& self, int64_t dim0, int64_t dim1, Tensor& out) {
  size_t a = 0;
  size_t b = 0;
  RL_TRY(normalize_dim(dim0, self.dim(), &a));
  RL_TRY(normalize_dim(dim1, self.dim(), &b));
  View view = View::of(self);
  if (self.dim() > 0) view.swap(a, b);
  return copy_to_out(view, out);
}

}  // namespace rushlight::kernels
