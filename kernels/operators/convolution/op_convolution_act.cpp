// SPDX-License-Identifier: BSD-3-Clause
// Convolution with residual and activation fused: out = activation(conv(input) + residual). The portable
// fallback works in two passes over `out`, so half and bfloat16 are rounded twice: after the sum with the
// bias, and after the activation.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/convolution.h"
#include "kernels/matmul/activation.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::convolution_act.out");
constexpr TypeSet kClampTypes = selected_types("rushlight::convolution_act.clamp_out");

// Proves the shapes of all operands, so that neither the fallback nor a back checks them again.
Error check_and_resize(TypeSet types, const ConvolutionActProblem& problem) {
  Shape shape;
  RL_TRY(convolution_shape(problem.input, problem.weight, problem.bias, problem.arguments, &shape));
  RL_TRY(check_same_dtype(problem.input, problem.out, "input and out"));
  if (!contains(types, problem.type())) return unsupported_type(problem.type());
  RL_TRY(check_residual(problem.residual, problem.input, shape.span()));
  return resize_out(problem.out, shape.span());
}

// True if the shapes allow to prepare. Errors are left to the call; the residual does not affect preparation.
bool can_prepare(const ConvolutionActProblem& problem) {
  Shape shape;
  return problem.out.scalar_type() == problem.type() &&
         convolution_shape(problem.input, problem.weight, problem.bias, problem.arguments, &shape) ==
             Error::Ok &&
         has_sizes(problem.out, shape.span());
}

// Without the residual and the activation: the first pass of the fallback.
Error convolve(const ConvolutionProblem& problem) {
  return convolve(problem.input, problem.weight, problem.bias, problem.arguments, problem.out);
}

}  // namespace

// `activation` is a name; `low` and `high` are its parameters, which most activations ignore. An unknown name
// is an error.
Error convolution_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, Span<const int64_t> stride,
                          Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                          Span<const int64_t> output_padding, int64_t groups,
                          const std::optional<Tensor>& residual, std::string_view activation, double low,
                          double high, Tensor& out) {
  ConvolutionActProblem problem{
      {input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out},
      residual,
      {}};
  RL_TRY(make_activation(activation, low, high, &problem.activation));
  RL_TRY(check_and_resize(kTypes, problem));
  return backs::convolution_act_out(context, problem, [&] {
    RL_TRY(convolve(problem));
    add_and_activate(residual, problem.activation, out);
    return Error::Ok;
  });
}

// Clamping is the common activation, so it has an operator without a name to parse: a build that selects only
// this one links no other activation.
Error convolution_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                Span<const int64_t> output_padding, int64_t groups,
                                const std::optional<Tensor>& residual, double low, double high, Tensor& out) {
  const ConvolutionActProblem problem{
      {input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out},
      residual,
      make_clamp(low, high)};
  RL_TRY(check_and_resize(kClampTypes, problem));
  return backs::convolution_act_clamp_out(context, problem, [&] {
    RL_TRY(convolve(problem));
    add_and_clamp(residual, problem.activation, out);
    return Error::Ok;
  });
}

Error convolution_act_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                  const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                  Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                  Span<const int64_t> output_padding, int64_t groups,
                                  const std::optional<Tensor>& residual, std::string_view, double, double,
                                  Tensor& out) {
  const ConvolutionActProblem problem{
      {input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out},
      residual,
      {}};
  return can_prepare(problem) ? backs::convolution_act_out_prepare(context, problem) : Error::Ok;
}

Error convolution_act_clamp_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                        const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                        Span<const int64_t> padding, Span<const int64_t> dilation,
                                        bool transposed, Span<const int64_t> output_padding, int64_t groups,
                                        const std::optional<Tensor>& residual, double, double, Tensor& out) {
  const ConvolutionActProblem problem{
      {input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out},
      residual,
      {}};
  return can_prepare(problem) ? backs::convolution_act_clamp_out_prepare(context, problem) : Error::Ok;
}

}  // namespace rushlight::kernels
