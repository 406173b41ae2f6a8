// SPDX-License-Identifier: BSD-3-Clause
// Linear layer with residual and activation fused: activation(input weight^T + bias + residual). The portable
// fallback works in two passes over `out`, so half and bfloat16 are rounded twice: after the sum with the
// bias, and after the activation.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/activation.h"
#include "kernels/matmul/linear.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::linear_act.out");
constexpr TypeSet kClampTypes = selected_types("rushlight::linear_act.clamp_out");

// Proves the shapes of all operands, so that neither the fallback nor a back checks them again.
Error check_and_resize(TypeSet types, const LinearActProblem& problem) {
  Shape shape;
  RL_TRY(linear_shape(problem, types, &shape));
  RL_TRY(check_residual(problem.residual, problem.input, shape.span()));
  return resize_out(problem.out, shape.span());
}

// True if the shapes allow to prepare. Errors are left to the call.
bool can_prepare(TypeSet types, const LinearActProblem& problem) {
  Shape shape;
  return linear_shape(problem, types, &shape) == Error::Ok &&
         check_residual(problem.residual, problem.input, shape.span()) == Error::Ok &&
         has_sizes(problem.out, shape.span());
}

}  // namespace

Error linear_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                     std::string_view activation, double low, double high, Tensor& out) {
  LinearActProblem problem{{input, weight, bias, out}, residual, {}};
  RL_TRY(make_activation(activation, low, high, &problem.activation));
  RL_TRY(check_and_resize(kTypes, problem));
  return backs::linear_act_out(context, problem, [&] {
    RL_TRY(multiply_linear(problem));
    add_and_activate(residual, problem.activation, out);
    return Error::Ok;
  });
}

// Clamping without a name to parse: a build that selects only this one links no other activation.
Error linear_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                           double low, double high, Tensor& out) {
  const LinearActProblem problem{{input, weight, bias, out}, residual, make_clamp(low, high)};
  RL_TRY(check_and_resize(kClampTypes, problem));
  return backs::linear_act_clamp_out(context, problem, [&] {
    RL_TRY(multiply_linear(problem));
    add_and_clamp(residual, problem.activation, out);
    return Error::Ok;
  });
}

Error linear_act_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                             std::string_view, double, double, Tensor& out) {
  const LinearActProblem problem{{input, weight, bias, out}, residual, {}};
  return can_prepare(kTypes, problem) ? backs::linear_act_out_prepare(context, problem) : Error::Ok;
}

Error linear_act_clamp_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias, const std::optional<Tensor>& residual,
                                   double, double, Tensor& out) {
  const LinearActProblem problem{{input, weight, bias, out}, residual, {}};
  return can_prepare(kClampTypes, problem) ? backs::linear_act_clamp_out_prepare(context, problem)
                                           : Error::Ok;
}

}  // namespace rushlight::kernels
