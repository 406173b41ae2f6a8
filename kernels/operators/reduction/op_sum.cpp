// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/reduce.h"
#include "kernels/reduction/sum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::sum.IntList_out") | selected_types("aten::sum.out");

}  // namespace

// Elements are converted to the accumulator dtype of `out` and added: floating ones pairwise, 16-bit floats
// in float; integers in wrapping int64. No elements give 0. An empty `dim` means all dimensions, as None
// does.
Error sum_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                  bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  Reduction reduction;
  RL_TRY(reduction.plan(self, all_if_empty(dim), keepdim, out));
  return backs::sum_dim_out(context, ReductionProblem{reduction, self, out},
                            [&] { return sum_into(kTypes, reduction, self, out); });
}

Error sum_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  Reduction reduction;
  RL_TRY(reduction.plan(self, std::nullopt, false, out));
  return backs::sum_out(context, ReductionProblem{reduction, self, out},
                        [&] { return sum_into(kTypes, reduction, self, out); });
}

}  // namespace rushlight::kernels
