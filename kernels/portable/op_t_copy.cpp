// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error t_copy_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_CHECK(self.dim() <= 2, Error::InvalidArgument, "self: expected rank 2 at most, got %d",
           static_cast<int>(self.dim()));
  View view = View::of(self);
  if (self.dim() == 2) view.swap(0, 1);
  return copy_to_out(view, out);
}

}  // namespace rushlight::kernels
