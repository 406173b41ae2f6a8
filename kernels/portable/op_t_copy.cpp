// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/permutation.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error t_copy_out(KernelContext&, const Tensor& self, Tensor& out) {
  View transposed;
  RL_TRY(read_transpose(self, &transposed));
  return copy_to_out(transposed, out);
}

}  // namespace rushlight::kernels
