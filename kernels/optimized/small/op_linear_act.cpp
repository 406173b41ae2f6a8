// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/small/finish.h"
#include "kernels/optimized/small/product.h"
#include "kernels/shared/linear.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error linear_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                     std::string_view activation, double low, double high, Tensor& out);
Error linear_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                           double low, double high, Tensor& out);

namespace optimized {

namespace {

Error multiply_and_check(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                         const std::optional<Tensor>& residual, Tensor& out) {
  Shape shape;
  RL_TRY(linear_shape(input, weight, bias, out, &shape));
  RL_TRY(check_residual(residual, input, shape.span()));
  RL_TRY(resize_out(out, shape.span()));
  return multiply_linear(input, weight, bias, out, multiply_small);
}

}  // namespace

Error linear_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                     std::string_view activation, double low, double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::linear_act.out");
  if (!all_of(kTypes, input, out)) {
    RL_FALL_BACK("rushlight::linear_act.out", linear_act_out, context, input, weight, bias, residual,
                 activation, low, high, out);
  }
  Activation last;
  RL_TRY(make_activation(activation, low, high, &last));
  RL_TRY(multiply_and_check(input, weight, bias, residual, out));
  finish(residual, last, out);
  return Error::Ok;
}

Error linear_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                           double low, double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::linear_act.clamp_out");
  if (!all_of(kTypes, input, out)) {
    RL_FALL_BACK("rushlight::linear_act.clamp_out", linear_act_clamp_out, context, input, weight, bias,
                 residual, low, high, out);
  }
  RL_TRY(multiply_and_check(input, weight, bias, residual, out));
  finish_clamp(residual, make_clamp(low, high), out);
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
