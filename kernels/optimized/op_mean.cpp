// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_reduction.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/reduce.h"

namespace rushlight::kernels {

Error mean_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                   bool keepdim, std::optional<int64_t> dtype, Tensor& out);
Error mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out);

namespace optimized {

namespace {

Error mean(KernelContext& context, const Tensor& self, const DimList& dim, bool keepdim,
           std::optional<int64_t> dtype, const Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dim, keepdim, out));
  mean_of_floats(context, reduction);
  return Error::Ok;
}

}  // namespace

Error mean_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                   bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mean.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::mean.out", mean_dim_out, context, self, dim, keepdim, dtype, out);
  }
  return mean(context, self, all_if_empty(dim), keepdim, dtype, out);
}

Error mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::mean.dtype_out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::mean.dtype_out", mean_dtype_out, context, self, dtype, out);
  }
  return mean(context, self, std::nullopt, false, dtype, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
