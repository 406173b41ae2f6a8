// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/activation.h"
#include "kernels/shared/linear.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Half and bfloat16 are rounded twice: the sums with the bias, and what becomes of them.
Error multiply_and_check(TypeSet types, const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                         Tensor& out) {
  if (!contains(types, input.scalar_type())) return unsupported_type(input.scalar_type());
  Shape shape;
  RL_TRY(linear_shape(input, weight, bias, out, &shape));
  RL_TRY(check_residual(residual, input, shape.span()));
  RL_TRY(resize_out(out, shape.span()));
  return multiply_linear(input, weight, bias, out);
}

}  // namespace

Error linear_act_out(KernelContext&, const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                     std::string_view activation, double low, double high, Tensor& out) {
  Activation last;
  RL_TRY(make_activation(activation, low, high, &last));
  constexpr TypeSet kTypes = selected_types("rushlight::linear_act.out");
  RL_TRY(multiply_and_check(kTypes, input, weight, bias, residual, out));
  add_and_activate(residual, last, out);
  return Error::Ok;
}

Error linear_act_clamp_out(KernelContext&, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                           double low, double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::linear_act.clamp_out");
  RL_TRY(multiply_and_check(kTypes, input, weight, bias, residual, out));
  add_and_clamp(residual, make_clamp(low, high), out);
  return Error::Ok;
}

}  // namespace rushlight::kernels
