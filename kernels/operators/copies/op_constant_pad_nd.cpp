// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/geometry/constant_pad.h"

namespace rushlight::kernels {

// `pad` has pairs (before, after), last dimension first; negative amounts crop.
Error constant_pad_nd_out(KernelContext& context, const Tensor& self, Span<const int64_t> pad,
                          const Scalar& value, Tensor& out) {
  ConstantPad plan;
  RL_TRY(plan_constant_pad(self, pad, value, out, &plan));
  return backs::constant_pad_nd_out(context, ConstantPadProblem{plan, value, out},
                                    [&] { return pad_constant(plan, value, out); });
}

}  // namespace rushlight::kernels
