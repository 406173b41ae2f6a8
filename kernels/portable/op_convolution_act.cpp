// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/activation.h"
#include "kernels/shared/convolution.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Half and bfloat16 are rounded twice: the sums with the bias, and what becomes of them.
Error convolve_and_check(TypeSet types, const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, const ConvolutionArguments& arguments,
                         const std::optional<Tensor>& residual, Tensor& out) {
  Shape shape;
  RL_TRY(convolution_shape(input, weight, bias, arguments, &shape));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  if (!contains(types, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_residual(residual, input, shape.span()));
  RL_TRY(resize_out(out, shape.span()));
  return convolve(input, weight, bias, arguments, out);
}

}  // namespace

Error convolution_act_out(KernelContext&, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, Span<const int64_t> stride,
                          Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                          Span<const int64_t> output_padding, int64_t groups,
                          const std::optional<Tensor>& residual, std::string_view activation, double low,
                          double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::convolution_act.out");
  Activation last;
  RL_TRY(make_activation(activation, low, high, &last));
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  RL_TRY(convolve_and_check(kTypes, input, weight, bias, arguments, residual, out));
  add_and_activate(residual, last, out);
  return Error::Ok;
}

Error convolution_act_clamp_out(KernelContext&, const Tensor& input, const Tensor& weight,
                                const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                                Span<const int64_t> output_padding, int64_t groups,
                                const std::optional<Tensor>& residual, double low, double high, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("rushlight::convolution_act.clamp_out");
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  RL_TRY(convolve_and_check(kTypes, input, weight, bias, arguments, residual, out));
  add_and_clamp(residual, make_clamp(low, high), out);
  return Error::Ok;
}

}  // namespace rushlight::kernels
