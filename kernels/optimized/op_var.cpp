// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_reduction.h"
#include "kernels/shared/variance.h"

namespace rushlight::kernels {

Error var_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
              bool unbiased, bool keepdim, Tensor& out);
Error var_correction_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                         const std::optional<Scalar>& correction, bool keepdim, Tensor& out);

namespace optimized {

namespace {

Error variance(KernelContext& context, const Tensor& self, const DimList& dim, double correction,
               bool keepdim, const Tensor& out) {
  Reduction reduction;
  RL_TRY(reduction.plan(self, all_if_empty(dim), keepdim, out));
  variance_of_floats(context, reduction, correction);
  return Error::Ok;
}

}  // namespace

Error var_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
              bool unbiased, bool keepdim, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::var.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::var.out", var_out, context, self, dim, unbiased, keepdim, out);
  }
  return variance(context, self, dim, unbiased ? 1.0 : 0.0, keepdim, out);
}

Error var_correction_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                         const std::optional<Scalar>& correction, bool keepdim, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::var.correction_out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::var.correction_out", var_correction_out, context, self, dim, correction, keepdim,
                 out);
  }
  return variance(context, self, dim, correction_of(correction), keepdim, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
