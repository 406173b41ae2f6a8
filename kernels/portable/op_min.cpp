// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/extremum.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error min_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& min,
              Tensor& min_indices) {
  constexpr TypeSet kTypes = selected_types("aten::min.dim_min");
  return extremum_along(kTypes, false, self, dim, keepdim, min, min_indices);
}

Error min_unary_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::min.unary_out");
  RL_TRY(check_can_cast(self.scalar_type(), out));
  if (self.numel() == 0) return extremum_of_nothing(false, out);
  return extremum_over(kTypes, false, self, std::nullopt, false, out);
}

}  // namespace rushlight::kernels
