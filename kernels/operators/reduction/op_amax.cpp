// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/extremum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The largest element over `dim`, or over all dimensions if the list is empty. NaN wins. A reduced dimension
// without elements is an error, because there is no neutral element for integers.
Error amax_out(KernelContext& context, const Tensor& self, Span<const int64_t> dim, bool keepdim,
               Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::amax.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  const DimList dims = all_if_empty(dim);
  RL_TRY(check_not_empty(self, dims));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  return backs::amax_out(context, ReductionProblem{reduction, self, out},
                         [&] { return extremum_into(kTypes, true, reduction, self, out); });
}

}  // namespace rushlight::kernels
