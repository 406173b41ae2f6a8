// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/normalization/rms_norm.h"

namespace rushlight::kernels {

// x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich, 2019), over the last dimensions: layer
// normalization without the mean, so two passes and not three.
Error rms_norm_out(KernelContext& context, const Tensor& input, Span<const int64_t> normalized_shape,
                   const std::optional<Tensor>& weight, double eps, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::rms_norm.out");
  RmsNormPlan plan;
  RL_TRY(plan_rms_norm(input, normalized_shape, weight, out, &plan));
  const RmsNormProblem problem{input, weight, eps, plan, out};
  return backs::rms_norm_out(context, problem, [&] {
    return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
      normalize_by_rms<typename decltype(type)::Element>(input, weight, eps, plan, out);
      return Error::Ok;
    });
  });
}

}  // namespace rushlight::kernels
