// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/sizes.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// The elements in row-major order in another shape; one size may be -1.
Error view_copy_out(KernelContext& context, const Tensor& self, Span<const int64_t> size, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  Shape shape;
  RL_TRY(infer_sizes(size, self.numel(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  return backs::view_copy_out(context, ReshapeProblem{self, out}, [&] {
    copy_reshaped(out, self);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
