// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/extremum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The largest element along `dim` and the index (int64) of its first occurrence. The first NaN wins.
Error max_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& max,
              Tensor& max_values) {
  constexpr TypeSet kTypes = selected_types("aten::max.dim_max");
  RL_TRY(check_same_dtype(self, max, "self and the values"));
  ExtremumSearch search{self, max_values, &max, keepdim, false};
  RL_TRY(search.plan(kTypes, dim));
  return backs::max_out(context, SearchProblem{search}, [&] { return extremum_along(true, search); });
}

Error max_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::max.unary_out");
  RL_TRY(check_can_cast(self.scalar_type(), out));
  if (self.numel() == 0) return extremum_of_nothing(true, out);
  Reduction reduction;
  RL_TRY(reduction.plan(self, std::nullopt, false, out));
  return backs::max_unary_out(context, ReductionProblem{reduction, self, out},
                              [&] { return extremum_into(kTypes, true, reduction, self, out); });
}

}  // namespace rushlight::kernels
