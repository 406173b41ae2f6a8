// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/selection.h"
#include "kernels/shared/variance.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::var.out") | selected_types("aten::var.correction_out");

Error variance(const Tensor& self, const DimList& dim, double correction, bool keepdim, Tensor& out) {
  Reduction reduction;
  RL_TRY(reduction.plan(self, all_if_empty(dim), keepdim, out));
  return variance_into(kTypes, reduction, self, correction, out);
}

}  // namespace

Error var_out(KernelContext&, const Tensor& self, std::optional<Span<const int64_t>> dim, bool unbiased,
              bool keepdim, Tensor& out) {
  return variance(self, dim, unbiased ? 1.0 : 0.0, keepdim, out);
}

Error var_correction_out(KernelContext&, const Tensor& self, std::optional<Span<const int64_t>> dim,
                         const std::optional<Scalar>& correction, bool keepdim, Tensor& out) {
  return variance(self, dim, correction_of(correction), keepdim, out);
}

}  // namespace rushlight::kernels
