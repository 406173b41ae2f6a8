// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/extremum.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error max_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& max,
              Tensor& max_values) {
  constexpr TypeSet kTypes = selected_types("aten::max.dim_max");
  return extremum_along(kTypes, true, self, dim, keepdim, max, max_values);
}

Error max_unary_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::max.unary_out");
  RL_TRY(check_can_cast(self.scalar_type(), out));
  if (self.numel() == 0) return extremum_of_nothing(true, out);
  return extremum_over(kTypes, true, self, std::nullopt, false, out);
}

}  // namespace rushlight::kernels
