// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/index/gather.h"
#include "kernels/index/index.h"

namespace rushlight::kernels {

// out[i][j] = self[index[i][j]][j] for dim 0, and likewise for others; `out` has the shape of `index`, which
// may be smaller than `self` in the other dimensions. Negative indices are refused, as in PyTorch.
// sparse_grad affects training only.
Error gather_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index, bool,
                 Tensor& out) {
  GatherPlan plan;
  RL_TRY(plan_gather(self, dim, index, out, &plan));
  if (plan.is_empty) return Error::Ok;
  return backs::gather_out(context, GatherProblem{plan}, [&] {
    return copy_indexed(plan.index, plan.dim, plan.source, plan.target, IndexedCopy::kRead);
  });
}

}  // namespace rushlight::kernels
