// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/walk/permutation.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// A view with negative strides that begins at the last element of each flipped dimension.
Error flip_out(KernelContext& context, const Tensor& self, Span<const int64_t> dims, Tensor& out) {
  View flipped;
  RL_TRY(read_flip(self, dims, &flipped));
  return backs::flip_out(context, CopyProblem{flipped, out}, [&] { return copy_to_out(flipped, out); });
}

}  // namespace rushlight::kernels
