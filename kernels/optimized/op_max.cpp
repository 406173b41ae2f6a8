// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_extremum.h"
#include "kernels/shared/extremum.h"

namespace rushlight::kernels {

Error max_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& max,
              Tensor& max_values);
Error max_unary_out(KernelContext& context, const Tensor& self, Tensor& out);

namespace optimized {

Error max_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& max,
              Tensor& max_values) {
  constexpr TypeSet kTypes = selected_types("aten::max.dim_max");
  if (!all_of(kTypes, self, max)) {
    RL_FALL_BACK("aten::max.dim_max", max_out, context, self, dim, keepdim, max, max_values);
  }
  return float_extremum_along(context, true, self, dim, keepdim, max, max_values);
}

Error max_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::max.unary_out");
  if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::max.unary_out", max_unary_out, context, self, out);
  if (self.numel() == 0) return extremum_of_nothing(true, out);
  return float_extremum_over(context, true, self, std::nullopt, false, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
