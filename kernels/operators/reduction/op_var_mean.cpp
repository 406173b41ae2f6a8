// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/sum.h"
#include "kernels/reduction/variance.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// out0: variance. out1: mean. The portable code computes the mean twice, three passes in all: the variance
// does not keep it, and the separate mean is rounded as in mean().
Error var_mean_correction_out(KernelContext& context, const Tensor& self,
                              std::optional<Span<const int64_t>> dim, const std::optional<Scalar>& correction,
                              bool keepdim, Tensor& out0, Tensor& out1) {
  constexpr TypeSet kTypes =
      selected_types("aten::var_mean.correction_out") & (types::kFloating | types::kComplex);
  const DimList dims = all_if_empty(dim);
  Reduction variances;
  RL_TRY(variances.plan(self, dims, keepdim, out0));
  Reduction means;
  RL_TRY(means.plan(self, dims, keepdim, out1));
  const VarianceAndMeanProblem problem{{{variances, self, out0}, correction_of(correction)}, means, out1};
  return backs::var_mean_correction_out(context, problem, [&] {
    RL_TRY(variance_into(kTypes, variances, self, problem.correction, out0));
    return mean_into(kTypes, means, self, out1);
  });
}

}  // namespace rushlight::kernels
