// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/variance.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::var.out") | selected_types("aten::var.correction_out");

}  // namespace

// The sum of squared distances from the mean, divided by count - 1 if `unbiased`, else by count. Two passes,
// see variance.h.
Error var_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
              bool unbiased, bool keepdim, Tensor& out) {
  Reduction reduction;
  RL_TRY(reduction.plan(self, all_if_empty(dim), keepdim, out));
  const VarianceProblem problem{{reduction, self, out}, unbiased ? 1.0 : 0.0};
  return backs::var_out(context, problem,
                        [&] { return variance_into(kTypes, reduction, self, problem.correction, out); });
}

// Divides by count - correction, which counts as 0 if it is negative: then the result is NaN or infinite.
Error var_correction_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                         const std::optional<Scalar>& correction, bool keepdim, Tensor& out) {
  Reduction reduction;
  RL_TRY(reduction.plan(self, all_if_empty(dim), keepdim, out));
  const VarianceProblem problem{{reduction, self, out}, correction_of(correction)};
  return backs::var_correction_out(
      context, problem, [&] { return variance_into(kTypes, reduction, self, problem.correction, out); });
}

}  // namespace rushlight::kernels
