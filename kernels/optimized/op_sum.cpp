// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_reduction.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/reduce.h"

namespace rushlight::kernels {

Error sum_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                  bool keepdim, std::optional<int64_t> dtype, Tensor& out);
Error sum_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out);

namespace optimized {

namespace {

Error sum(KernelContext& context, const Tensor& self, const DimList& dim, bool keepdim,
          std::optional<int64_t> dtype, const Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dim, keepdim, out));
  sum_floats(context, reduction);
  return Error::Ok;
}

}  // namespace

Error sum_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                  bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sum.IntList_out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::sum.IntList_out", sum_dim_out, context, self, dim, keepdim, dtype, out);
  }
  return sum(context, self, all_if_empty(dim), keepdim, dtype, out);
}

Error sum_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::sum.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::sum.out", sum_out, context, self, dtype, out);
  }
  return sum(context, self, std::nullopt, false, dtype, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
