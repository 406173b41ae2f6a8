// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/geometry/constant_pad.h"
#include "kernels/walk/fill.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error constant_pad_nd_out(KernelContext& context, const Tensor& self, Span<const int64_t> pad,
                          const Scalar& value, Tensor& out) {
  ConstantPad plan;
  RL_TRY(plan_constant_pad(self, pad, value, out, &plan));
  return backs::constant_pad_nd_out(context, ConstantPadProblem{plan, value, out}, [&]() -> Error {
    RL_TRY(fill(out, value));
    View target = View::of(out);
    for (size_t d = 0; d < target.dim; ++d) target.slice(d, plan.start[d], plan.source.sizes[d]);
    return copy_view(target, plan.source);
  });
}

}  // namespace rushlight::kernels
