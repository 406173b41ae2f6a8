// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/sizes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error view_copy_out(KernelContext&, const Tensor& self, Span<const int64_t> size, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  Shape shape;
  RL_TRY(infer_sizes(size, self.numel(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  copy_reshaped(out, self);
  return Error::Ok;
}

}  // namespace rushlight::kernels
