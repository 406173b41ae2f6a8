// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/softmax.h"
#include "kernels/shared/softmax.h"
#include "kernels/ukernel/softmax.h"

namespace rushlight::kernels {

Error log_softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                      Tensor& out);

namespace optimized {

Error log_softmax_out(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
                      Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_log_softmax.out");
  RL_TRY(check_softmax_types(self, half_to_float, out));
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::_log_softmax.out", log_softmax_out, context, self, dim, half_to_float, out);
  }
  return softmax_along(context, {ukernel::log_softmax_run, ukernel::log_softmax_rows, true}, self, dim, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
