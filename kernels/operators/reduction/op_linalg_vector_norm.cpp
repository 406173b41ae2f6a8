// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/backs/reduction.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/norm.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

// The p-norm over `dim`, by default over all dimensions; an empty list means all, too.
Error linalg_vector_norm_out(KernelContext& context, const Tensor& self, const Scalar& ord,
                             std::optional<Span<const int64_t>> dim, bool keepdim,
                             std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linalg_vector_norm.out");
  Reduction reduction;
  const double order = ord.to<double>();
  RL_TRY(plan_norm(kTypes, self, order, all_if_empty(dim), keepdim, dtype, out, &reduction));
  return backs::linalg_vector_norm_out(context, NormProblem{{reduction, self, out}, order},
                                       [&] { return norm_into(reduction, self, order, out); });
}

}  // namespace rushlight::kernels
