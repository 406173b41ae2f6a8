// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/clamp.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error maximum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::maximum.out") | selected_types("cortex_m::maximum.out");
  // NaN in either operand gives NaN. The portable code keeps the first of equal operands, so maximum(-0, 0)
  // is -0.
  const auto choose = [](auto a, auto b) { return at_least(a, b); };
  return backs::maximum_out(context, BinaryProblem{self.scalar_type(), self, other, out},
                            [&] { return elementwise<kTypes>(out, choose, self, other); });
}

}  // namespace rushlight::kernels
