// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/softmax.h"
#include "kernels/shared/softmax.h"
#include "kernels/ukernel/softmax.h"

namespace rushlight::kernels {

Error softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out);

namespace optimized {

Error softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_softmax.out");
  RL_TRY(check_softmax_types(self, half_to_float, out));
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::_softmax.out", softmax_out, context, self, dim, half_to_float, out);
  }
  return softmax_along(context, {ukernel::softmax_run, ukernel::softmax_rows, false}, self, dim, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
