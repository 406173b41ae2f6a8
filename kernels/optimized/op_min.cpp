// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_extremum.h"
#include "kernels/shared/extremum.h"

namespace rushlight::kernels {

Error min_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& min,
              Tensor& min_indices);
Error min_unary_out(KernelContext& context, const Tensor& self, Tensor& out);

namespace optimized {

Error min_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& min,
              Tensor& min_indices) {
  constexpr TypeSet kTypes = selected_types("aten::min.dim_min");
  if (!all_of(kTypes, self, min)) {
    RL_FALL_BACK("aten::min.dim_min", min_out, context, self, dim, keepdim, min, min_indices);
  }
  return float_extremum_along(context, false, self, dim, keepdim, min, min_indices);
}

Error min_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::min.unary_out");
  if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::min.unary_out", min_unary_out, context, self, out);
  if (self.numel() == 0) return extremum_of_nothing(false, out);
  return float_extremum_over(context, false, self, std::nullopt, false, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
