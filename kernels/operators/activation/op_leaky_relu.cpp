// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/scalar_range.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// x > 0 ? x : x * negative_slope. NaN fails the comparison and stays NaN in the product.
Error leaky_relu_out(KernelContext& context, const Tensor& self, const Scalar& negative_slope, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::leaky_relu.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(check_scalar_range(negative_slope, self.scalar_type(), "negative_slope"));
  const auto leak = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [slope = negative_slope.to<T>()](T x) { return x > T(0) ? x : x * slope; };
  };
  return backs::leaky_relu_out(context, LeakyReluProblem{{self, out}, negative_slope.to<float>()},
                               [&] { return elementwise_for<kTypes>(self.scalar_type(), out, leak, self); });
}

}  // namespace rushlight::kernels
