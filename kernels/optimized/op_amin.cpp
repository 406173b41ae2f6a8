// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_extremum.h"
#include "kernels/shared/reduce.h"

namespace rushlight::kernels {

Error amin_out(KernelContext& context, const Tensor& self, Span<const int64_t> dim, bool keepdim,
               Tensor& out);

namespace optimized {

Error amin_out(KernelContext& context, const Tensor& self, Span<const int64_t> dim, bool keepdim,
               Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::amin.out");
  if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::amin.out", amin_out, context, self, dim, keepdim, out);
  return float_extremum_over(context, false, self, all_if_empty(dim), keepdim, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
