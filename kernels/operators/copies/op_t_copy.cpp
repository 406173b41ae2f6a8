// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/walk/permutation.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// The transpose of a matrix; vectors and 0-dim tensors stay.
Error t_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  View transposed;
  RL_TRY(read_transpose(self, &transposed));
  return backs::t_copy_out(context, CopyProblem{transposed, out},
                           [&] { return copy_to_out(transposed, out); });
}

}  // namespace rushlight::kernels
