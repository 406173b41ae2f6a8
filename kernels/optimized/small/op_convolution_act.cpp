// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/small/convolve.h"
#include "kernels/optimized/small/finish.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error convolution_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, Span<const int64_t> stride,
                          Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                          Span<const int64_t> output_padding, int64_t groups,
                          const std::optional<Tensor>& residual, std::string_view activation, double low,
                          double high, Tensor& out);
Error convolution_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                Span<const int64_t> output_padding, int64_t groups,
                                const std::optional<Tensor>& residual, double low, double high, Tensor& out);

namespace optimized {

namespace {

// Whether the result is finished says `is_finished`.
Error convolve_and_check(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                         const ConvolutionArguments& arguments, const std::optional<Tensor>& residual,
                         const Activation& last, Tensor& out, bool* is_finished) {
  Shape shape;
  RL_TRY(convolution_shape(input, weight, bias, arguments, &shape));
  RL_TRY(check_residual(residual, input, shape.span()));
  RL_TRY(resize_out(out, shape.span()));
  *is_finished = convolve_small(input, weight, bias, arguments, !residual && is_rectifier(last), out);
  return Error::Ok;
}

}  // namespace

Error convolution_act_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, Span<const int64_t> stride,
                          Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                          Span<const int64_t> output_padding, int64_t groups,
                          const std::optional<Tensor>& residual, std::string_view activation, double low,
                          double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::convolution_act.out");
  if (!all_of(kTypes, input, out)) {
    RL_FALL_BACK("rushlight::convolution_act.out", convolution_act_out, context, input, weight, bias, stride,
                 padding, dilation, transposed, output_padding, groups, residual, activation, low, high, out);
  }
  Activation last;
  RL_TRY(make_activation(activation, low, high, &last));
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  bool is_finished;
  RL_TRY(convolve_and_check(input, weight, bias, arguments, residual, last, out, &is_finished));
  if (!is_finished) finish(residual, last, out);
  return Error::Ok;
}

Error convolution_act_clamp_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                Span<const int64_t> output_padding, int64_t groups,
                                const std::optional<Tensor>& residual, double low, double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::convolution_act.clamp_out");
  if (!all_of(kTypes, input, out)) {
    RL_FALL_BACK("rushlight::convolution_act.clamp_out", convolution_act_clamp_out, context, input, weight,
                 bias, stride, padding, dilation, transposed, output_padding, groups, residual, low, high,
                 out);
  }
  const Activation last = make_clamp(low, high);
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  bool is_finished;
  RL_TRY(convolve_and_check(input, weight, bias, arguments, residual, last, out, &is_finished));
  if (!is_finished) finish_clamp(residual, last, out);
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
