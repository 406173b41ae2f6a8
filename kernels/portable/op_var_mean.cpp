// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/selection.h"
#include "kernels/shared/sum.h"
#include "kernels/shared/variance.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// out0 is the variance, out1 the mean.
Error var_mean_correction_out(KernelContext&, const Tensor& self, std::optional<Span<const int64_t>> dim,
                              const std::optional<Scalar>& correction, bool keepdim, Tensor& out0,
                              Tensor& out1) {
  constexpr TypeSet kTypes =
      selected_types("aten::var_mean.correction_out") & (types::kFloating | types::kComplex);
  const DimList dims = all_if_empty(dim);
  Reduction variances;
  RL_TRY(variances.plan(self, dims, keepdim, out0));
  RL_TRY(variance_into(kTypes, variances, self, correction_of(correction), out0));
  Reduction means;
  RL_TRY(means.plan(self, dims, keepdim, out1));
  return mean_into(kTypes, means, self, out1);
}

}  // namespace rushlight::kernels
