// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/permutation.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error flip_out(KernelContext&, const Tensor& self, Span<const int64_t> dims, Tensor& out) {
  View flipped;
  RL_TRY(read_flip(self, dims, &flipped));
  return copy_to_out(flipped, out);
}

}  // namespace rushlight::kernels
