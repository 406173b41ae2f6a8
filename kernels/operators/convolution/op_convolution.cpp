// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/convolution.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Convolution in one to three dimensions, also transposed: input [N, C, spatial...], weight [O, C / groups,
// kernel...], transposed [C, O / groups, kernel...]. The shape function has checked every argument before the
// loops run, so they check nothing.
Error convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                      const std::optional<Tensor>& bias, Span<const int64_t> stride,
                      Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                      Span<const int64_t> output_padding, int64_t groups, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::convolution.out");
  const ConvolutionProblem problem{
      input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out};
  Shape shape;
  RL_TRY(convolution_shape(input, weight, bias, problem.arguments, &shape));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(resize_out(out, shape.span()));
  return backs::convolution_out(context, problem,
                                [&] { return convolve(input, weight, bias, problem.arguments, out); });
}

// Runs once at load, before any call has resized `out`: a back may pack constant weights for the problem's
// sizes.
Error convolution_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                              const std::optional<Tensor>& bias, Span<const int64_t> stride,
                              Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                              Span<const int64_t> output_padding, int64_t groups, Tensor& out) {
  const ConvolutionProblem problem{
      input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out};
  Shape shape;
  const bool fits = out.scalar_type() == input.scalar_type() &&
                    convolution_shape(input, weight, bias, problem.arguments, &shape) == Error::Ok &&
                    has_sizes(out, shape.span());
  if (!fits) return Error::Ok;  // the call itself reports errors
  return backs::convolution_out_prepare(context, problem);
}

}  // namespace rushlight::kernels
