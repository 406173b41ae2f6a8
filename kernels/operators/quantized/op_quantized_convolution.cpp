// SPDX-License-Identifier: BSD-3-Clause
// A convolution of integers: dequantize, convolution, clamp and quantize in one. The bias is that of the
// float convolution in steps of input scale x weight scale, less input_zero_point x the sum of the channel's
// weights: so that products are of numbers as they are stored.
#include "kernels/backs/backs.h"
#include "kernels/geometry/convolution_geometry.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_convolution.out") & kQuantizedNumbers;

Error check_and_plan(const QuantizedConvolutionProblem& problem, Shape* shape) {
  const Tensor& input = problem.input;
  if (!contains(kTypes, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_same_dtype(input, problem.out, "input and out"));
  RL_CHECK(problem.weight.scalar_type() == ScalarType::Char, Error::InvalidType,
           "weight: expected dtype int8, got %s", to_string(problem.weight.scalar_type()));
  return convolution_sizes(input, problem.weight, problem.arguments, shape);
}

// Products of a sum.
size_t depth_of(const QuantizedConvolutionProblem& problem) {
  const Tensor& weight = problem.weight;
  const ConvolutionArguments& arguments = problem.arguments;
  const auto outputs =
      static_cast<size_t>(arguments.transposed ? weight.size(1) : weight.size(0) / arguments.groups);
  const size_t all = weight.numel() / static_cast<size_t>(arguments.groups);
  return outputs == 0 ? 0 : all / outputs;
}

// The sum of one output of one channel. `in` and `weight` are at the first channel of the group.
template <class T>
ProductSum<T> sum_at(const ConvolutionGeometry& g, const T* in, const int8_t* weight, const ptrdiff_t* at,
                     int32_t zero_point) {
  ProductSum<T> sum = 0;
  ptrdiff_t k[kSpatial];
  for (k[0] = 0; k[0] < g.axes[0].kernel; ++k[0]) {
    for (k[1] = 0; k[1] < g.axes[1].kernel; ++k[1]) {
      for (k[2] = 0; k[2] < g.axes[2].kernel; ++k[2]) {
        ptrdiff_t in_offset = 0, weight_offset = 0;
        bool inside = true;
        for (size_t i = 0; i < kSpatial; ++i) {
          const ConvolutionAxis& axis = g.axes[i];
          const ptrdiff_t position =
              input_at(axis, first_position(axis, at[i], g.transposed), k[i], g.transposed);
          inside = inside && position >= 0;
          in_offset += position * axis.in_stride;
          weight_offset += k[i] * axis.kernel_stride;
        }
        const int8_t* w = weight + weight_offset;
        for (ptrdiff_t c = 0; c < g.in_channels; ++c, w += g.weight_in_stride) {
          sum += (inside ? int32_t{in[in_offset + c * g.in_channel_stride]} : zero_point) * *w;
        }
      }
    }
  }
  return sum;
}

template <class T>
void convolve(const QuantizedConvolutionProblem& problem) {
  const ConvolutionGeometry g =
      convolution_geometry(problem.input, problem.weight, problem.arguments, problem.out);
  const auto* bias = problem.bias ? problem.bias->const_data_ptr<ProductSum<T>>() : nullptr;
  for (ptrdiff_t n = 0; n < g.batch; ++n) {
    const T* in = problem.input.const_data_ptr<T>() + n * g.in_batch_stride;
    T* out = problem.out.mutable_data_ptr<T>() + n * g.out_batch_stride;
    for (ptrdiff_t channel = 0; channel < g.groups * g.out_channels; ++channel) {
      const ptrdiff_t group = channel / g.out_channels;
      const T* first = in + group * g.in_channels * g.in_channel_stride;
      const int8_t* weight = problem.weight.const_data_ptr<int8_t>() + group * g.weight_group_stride +
                             channel % g.out_channels * g.weight_out_stride;
      ptrdiff_t at[kSpatial];
      for (at[0] = 0; at[0] < g.axes[0].out; ++at[0]) {
        for (at[1] = 0; at[1] < g.axes[1].out; ++at[1]) {
          for (at[2] = 0; at[2] < g.axes[2].out; ++at[2]) {
            const ProductSum<T> sum = sum_at(g, first, weight, at, problem.input_zero_point) +
                                      (bias == nullptr ? 0 : bias[channel]);
            out[at[0] * g.axes[0].out_stride + at[1] * g.axes[1].out_stride + at[2] * g.axes[2].out_stride +
                channel * g.out_channel_stride] =
                static_cast<T>(ukernel::requantize_sum(problem.to, sum, static_cast<size_t>(channel)));
          }
        }
      }
    }
  }
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
  const QuantizedConvolutionProblem problem{
      {input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out},
      static_cast<int32_t>(input_zero_point),
      to};
  Shape shape;
  RL_TRY(check_and_plan(problem, &shape));
  RL_TRY(check_zero_point(input_zero_point, input.scalar_type(), "input_zero_point"));
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(
      make_requantization({bias, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}},
                          out, static_cast<size_t>(shape.sizes[1]), depth_of(problem), &to));
  return backs::quantized_convolution_out(context, problem, [&] {
    return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
      convolve<typename decltype(type)::Element>(problem);
      return Error::Ok;
    });
  });
}

Error quantized_convolution_out_prepare(KernelContext& context, const Tensor& input, int64_t,
                                        const Tensor& weight, const std::optional<Tensor>& bias,
                                        const Tensor&, const std::optional<Tensor>&,
                                        Span<const int64_t> stride, Span<const int64_t> padding,
                                        Span<const int64_t> dilation, bool transposed,
                                        Span<const int64_t> output_padding, int64_t groups, std::string_view,
                                        int64_t, int64_t, int64_t, Tensor& out) {
  const ukernel::Requantization none;
  const QuantizedConvolutionProblem problem{
      {input, weight, bias, {stride, padding, dilation, transposed, output_padding, groups}, out}, 0, none};
  Shape shape;
  const bool fits = check_and_plan(problem, &shape) == Error::Ok && has_sizes(out, shape.span());
  if (!fits) return Error::Ok;  // an error is the call's
  return backs::quantized_convolution_out_prepare(context, problem);
}

}  // namespace rushlight::kernels
