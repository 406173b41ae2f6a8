// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/index/index.h"
#include "kernels/index/index_update.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// out = self, with slice index[i] along `dim` replaced by slice i of `source`. If an index repeats the last
// one wins.
Error index_copy_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& source, Tensor& out) {
  IndexUpdate update;
  RL_TRY(update.plan(self, dim, index, source, out));
  return copy_indexed(update.index, update.dim, update.target, update.source, IndexedCopy::kWrite);
}

}  // namespace rushlight::kernels
