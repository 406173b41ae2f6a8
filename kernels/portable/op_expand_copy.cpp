// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/permutation.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error expand_copy_out(KernelContext&, const Tensor& self, Span<const int64_t> size, bool implicit,
                      Tensor& out) {
  View expanded;
  RL_TRY(read_expansion(self, size, implicit, &expanded));
  return copy_to_out(expanded, out);
}

}  // namespace rushlight::kernels
