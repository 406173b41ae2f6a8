// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/reduce.h"
#include "kernels/reduction/sum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kAnyTypes = selected_types("aten::mean.out") | selected_types("aten::mean.dtype_out");
constexpr TypeSet kTypes = kAnyTypes & (types::kFloating | types::kComplex);

// Means of integers need an explicit floating dtype, as in PyTorch.
Error check_floating(const Tensor& self) {
  if constexpr (kAnyTypes != kTypes) {
    RL_CHECK(contains(types::kFloating | types::kComplex, self.scalar_type()), Error::InvalidType,
             "self: expected a floating or complex dtype without dtype argument, got %s",
             to_string(self.scalar_type()));
  }
  return Error::Ok;
}

}  // namespace

// The pairwise sum, in float for 16-bit floats, divided once by the number of elements; NaN for no elements.
// Elements are converted to the compute dtype of `out` before they are added, so integers with a `dtype` do
// not overflow.
Error mean_dim_out(KernelContext& context, const Tensor& self, std::optional<Span<const int64_t>> dim,
                   bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  if (!dtype.has_value()) RL_TRY(check_floating(self));
  Reduction reduction;
  RL_TRY(reduction.plan(self, all_if_empty(dim), keepdim, out));
  return backs::mean_dim_out(context, ReductionProblem{reduction, self, out},
                             [&] { return mean_into(kTypes, reduction, self, out); });
}

Error mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  if (!dtype.has_value()) RL_TRY(check_floating(self));
  Reduction reduction;
  RL_TRY(reduction.plan(self, std::nullopt, false, out));
  return backs::mean_dtype_out(context, ReductionProblem{reduction, self, out},
                               [&] { return mean_into(kTypes, reduction, self, out); });
}

}  // namespace rushlight::kernels
