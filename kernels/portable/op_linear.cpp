// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/linear.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error linear_out(KernelContext&, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::linear.out");
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  Shape shape;
  RL_TRY(linear_shape(input, weight, bias, out, &shape));
  RL_TRY(resize_out(out, shape.span()));
  return multiply_linear(input, weight, bias, out);
}

}  // namespace rushlight::kernels
