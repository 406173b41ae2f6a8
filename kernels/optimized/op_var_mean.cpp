// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_reduction.h"
#include "kernels/shared/variance.h"

namespace rushlight::kernels {

Error var_mean_correction_out(KernelContext& context, const Tensor& self,
                              std::optional<Span<const int64_t>> dim, const std::optional<Scalar>& correction,
                              bool keepdim, Tensor& out0, Tensor& out1);

namespace optimized {

// out0 is the variance, out1 the mean.
Error var_mean_correction_out(KernelContext& context, const Tensor& self,
                              std::optional<Span<const int64_t>> dim, const std::optional<Scalar>& correction,
                              bool keepdim, Tensor& out0, Tensor& out1) {
  constexpr TypeSet kTypes = selected_types("aten::var_mean.correction_out");
  if (!all_of(kTypes, self, out0, out1)) {
    RL_FALL_BACK("aten::var_mean.correction_out", var_mean_correction_out, context, self, dim, correction,
                 keepdim, out0, out1);
  }
  Reduction variances;
  RL_TRY(variances.plan(self, all_if_empty(dim), keepdim, out0));
  variance_of_floats(context, variances, correction_of(correction));
  Reduction means;
  RL_TRY(means.plan(self, all_if_empty(dim), keepdim, out1));
  mean_of_floats(context, means);
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels
