// SPDX-License-Identifier: BSD-3-Clause
// A convolution of integers: dequantize, convolution, clamp and quantize fused. The bias is the float bias in
// steps of input scale * weight scale, minus input_zero_point times the sum of the channel's weights: with
// that, the inner loop multiplies inputs as stored, without subtracting the zero point.
#include "kernels/backs/backs.h"
#include "kernels/quantization/integer_convolution.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_convolution.out") & kQuantizedElements;

// The shapes are checked as for a float convolution; the bias is checked with the scales.
Error check_and_plan(const QuantizedConvolutionProblem& problem, Shape* shape) {
  const Tensor& input = problem.input;
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_same_dtype(input, problem.out, "input and out"));
  RL_CHECK(problem.weight.scalar_type() == ScalarType::Char, Error::InvalidType,
           "weight: expected dtype int8, got %s", to_string(problem.weight.scalar_type()));
  return convolution_sizes(input, problem.weight, problem.arguments, shape);
}

}  // namespace

Error quantized_convolution_out(KernelContext& context, const Tensor& input, int64_t input_zero_point,
                                const Tensor& weight, const std::optional<Tensor>& bias,
                                const Tensor& multipliers, const std::optional<Tensor>& shifts,
                                Span<const int64_t> stride, Span<const int64_t> padding,
                                Span<const int64_t> dilation, bool transposed,
                                Span<const int64_t> output_padding, int64_t groups, std::string_view rounding,
                                int64_t output_zero_point, int64_t output_min, int64_t output_max,
                                Tensor& out) {
  ukernel::Requantization to;
  const QuantizedConvolutionProblem problem{{input,
                                             weight,
                                             bias,
                                             {stride, padding, dilation, transposed, output_padding, groups},
                                             out,
                                             static_cast<int32_t>(input_zero_point),
                                             to}};
  Shape shape;
  RL_TRY(check_and_plan(problem, &shape));
  RL_TRY(check_zero_point(input_zero_point, input.scalar_type(), "input_zero_point"));
  RL_TRY(resize_out(out, shape.span()));
  // Proves for every channel that bias and products fit in the accumulator, so that the loops need no
  // saturation.
  RL_TRY(
      make_requantization({bias, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}},
                          out, static_cast<size_t>(shape.sizes[1]), products_of_sum(problem), &to));
  return backs::quantized_convolution_out(context, problem, [&] { return convolve_integers(problem); });
}

// Weights can be packed without scales: those are read at each call.
Error quantized_convolution_out_prepare(KernelContext& context, const Tensor& input, int64_t,
                                        const Tensor& weight, const std::optional<Tensor>& bias,
                                        const Tensor&, const std::optional<Tensor>&,
                                        Span<const int64_t> stride, Span<const int64_t> padding,
                                        Span<const int64_t> dilation, bool transposed,
                                        Span<const int64_t> output_padding, int64_t groups, std::string_view,
                                        int64_t, int64_t, int64_t, Tensor& out) {
  const ukernel::Requantization none;
  const QuantizedConvolutionProblem problem{
      {input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out, 0, none}};
  Shape shape;
  const bool fits = check_and_plan(problem, &shape) == Error::Ok && has_sizes(out, shape.span());
  if (!fits) return Error::Ok;  // the call itself reports errors
  return backs::quantized_convolution_out_prepare(context, problem);
}

}  // namespace rushlight::kernels
