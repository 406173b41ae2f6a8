// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/walk/permutation.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error permute_copy_out(KernelContext& context, const Tensor& self, Span<const int64_t> dims, Tensor& out) {
  View permuted;
  RL_TRY(read_permutation(self, dims, &permuted));
  return backs::permute_copy_out(context, CopyProblem{permuted, out},
                                 [&] { return copy_to_out(permuted, out); });
}

}  // namespace rushlight::kernels
