// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/reduce.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/sum.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = (selected_types("aten::mean.out") | selected_types("aten::mean.dtype_out")) &
                           (types::kFloating | types::kComplex);

Error mean(const Tensor& self, const DimList& dim, bool keepdim, std::optional<int64_t> dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(dtype, out));
  RL_CHECK(dtype.has_value() || is_floating(self.scalar_type()) || is_complex(self.scalar_type()),
           Error::InvalidType,
           "self: expected a floating or complex dtype where no dtype is asked for, got %s",
           to_string(self.scalar_type()));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dim, keepdim, out));
  return mean_into(kTypes, reduction, self, out);
}

}  // namespace

Error mean_dim_out(KernelContext&, const Tensor& self, std::optional<Span<const int64_t>> dim, bool keepdim,
                   std::optional<int64_t> dtype, Tensor& out) {
  return mean(self, all_if_empty(dim), keepdim, dtype, out);
}

Error mean_dtype_out(KernelContext&, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  return mean(self, std::nullopt, false, dtype, out);
}

}  // namespace rushlight::kernels
