// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/backs/reduction.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/norm.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::norm.out") | selected_types("aten::norm.dtype_out") |
                           selected_types("aten::norm.Scalar_out") |
                           selected_types("aten::norm.ScalarOpt_dtype_out");

// None means the Euclidean norm.
double order_of(const std::optional<Scalar>& p) { return p ? p->to<double>() : 2; }

}  // namespace

Error norm_out(KernelContext& context, const Tensor& self, const std::optional<Scalar>& p,
               Span<const int64_t> dim, bool keepdim, Tensor& out) {
  Reduction reduction;
  const double order = order_of(p);
  RL_TRY(plan_norm(kTypes, self, order, all_if_empty(dim), keepdim, std::nullopt, out, &reduction));
  return backs::norm_out(context, NormProblem{{reduction, self, out}, order},
                         [&] { return norm_into(reduction, self, order, out); });
}

Error norm_dtype_out(KernelContext& context, const Tensor& self, const std::optional<Scalar>& p,
                     Span<const int64_t> dim, bool keepdim, int64_t dtype, Tensor& out) {
  Reduction reduction;
  const double order = order_of(p);
  RL_TRY(plan_norm(kTypes, self, order, all_if_empty(dim), keepdim, dtype, out, &reduction));
  return backs::norm_dtype_out(context, NormProblem{{reduction, self, out}, order},
                               [&] { return norm_into(reduction, self, order, out); });
}

Error norm_Scalar_out(KernelContext& context, const Tensor& self, const Scalar& p, Tensor& out) {
  Reduction reduction;
  const double order = p.to<double>();
  RL_TRY(plan_norm(kTypes, self, order, std::nullopt, false, std::nullopt, out, &reduction));
  return backs::norm_Scalar_out(context, NormProblem{{reduction, self, out}, order},
                                [&] { return norm_into(reduction, self, order, out); });
}

Error norm_ScalarOpt_dtype_out(KernelContext& context, const Tensor& self, const std::optional<Scalar>& p,
                               int64_t dtype, Tensor& out) {
  Reduction reduction;
  const double order = order_of(p);
  RL_TRY(plan_norm(kTypes, self, order, std::nullopt, false, dtype, out, &reduction));
  return backs::norm_ScalarOpt_dtype_out(context, NormProblem{{reduction, self, out}, order},
                                         [&] { return norm_into(reduction, self, order, out); });
}

}  // namespace rushlight::kernels
