// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/small/product.h"
#include "kernels/shared/linear.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const std::optional<Tensor>& bias, Tensor& out);

namespace optimized {

Error linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const std::optional<Tensor>& bias, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linear.out");
  if (!all_of(kTypes, input, out))
    RL_FALL_BACK("aten::linear.out", linear_out, context, input, weight, bias, out);
  Shape shape;
  RL_TRY(linear_shape(input, weight, bias, out, &shape));
  RL_TRY(resize_out(out, shape.span()));
  return multiply_linear(input, weight, bias, out, multiply_small);
}

}  // namespace optimized
}  // namespace rushlight::kernels
