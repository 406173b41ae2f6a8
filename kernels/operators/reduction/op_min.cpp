// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/extremum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The smallest element along `dim` and the index (int64) of its first occurrence. The first NaN wins.
Error min_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& min,
              Tensor& min_indices) {
  constexpr TypeSet kTypes = selected_types("aten::min.dim_min");
  RL_TRY(check_same_dtype(self, min, "self and the values"));
  ExtremumSearch search{self, min_indices, &min, keepdim, false};
  RL_TRY(search.plan(kTypes, dim));
  return backs::min_out(context, SearchProblem{search}, [&] { return extremum_along(false, search); });
}

Error min_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::min.unary_out");
  RL_TRY(check_can_cast(self.scalar_type(), out));
  if (self.numel() == 0) return extremum_of_nothing(false, out);
  Reduction reduction;
  RL_TRY(reduction.plan(self, std::nullopt, false, out));
  return backs::min_unary_out(context, ReductionProblem{reduction, self, out},
                              [&] { return extremum_into(kTypes, false, reduction, self, out); });
}

}  // namespace rushlight::kernels
