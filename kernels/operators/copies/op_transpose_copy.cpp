// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/walk/permutation.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error transpose_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim0, int64_t dim1,
                             Tensor& out) {
  View swapped;
  RL_TRY(read_swap(self, dim0, dim1, &swapped));
  return backs::transpose_copy_int_out(context, CopyProblem{swapped, out},
                                       [&] { return copy_to_out(swapped, out); });
}

}  // namespace rushlight::kernels
