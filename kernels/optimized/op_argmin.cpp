// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_extremum.h"

namespace rushlight::kernels {

Error argmin_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                 Tensor& out);

namespace optimized {

Error argmin_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::argmin.out");
  if (!all_of(kTypes, self)) RL_FALL_BACK("aten::argmin.out", argmin_out, context, self, dim, keepdim, out);
  return float_arg_extremum(context, false, self, dim, keepdim, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
