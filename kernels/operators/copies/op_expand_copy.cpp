// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/walk/permutation.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// Repeats dimensions of size 1, by a stride of 0; -1 keeps a size. New dimensions come first.
Error expand_copy_out(KernelContext& context, const Tensor& self, Span<const int64_t> size, bool implicit,
                      Tensor& out) {
  View expanded;
  RL_TRY(read_expansion(self, size, implicit, &expanded));
  return backs::expand_copy_out(context, CopyProblem{expanded, out},
                                [&] { return copy_to_out(expanded, out); });
}

}  // namespace rushlight::kernels
