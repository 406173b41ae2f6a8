// SPDX-License-Identifier: BSD-3-Clause
// int8 transposed convolutions of ExecuTorch's Cortex-M backend, with one group: weight [O, KH, KW, C]. The
// two tensors before `out` are scratch of the official kernels and stay unused. Everything else is as in
// op_cortex_m_conv2d.cpp.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/cortex_m_convolution.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("cortex_m::quantized_transpose_conv2d.out");
constexpr TypeSet kNhwcTypes = selected_types("cortex_m::quantized_transpose_conv2d_nhwc.out");

// The arguments as the shared problem, with `transposed` set and one group.
CortexMConvolution call_of(bool nhwc, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, Span<const int64_t> stride,
                           Span<const int64_t> padding, Span<const int64_t> output_padding,
                           Span<const int64_t> dilation, int64_t input_offset, int64_t output_offset,
                           const Tensor& multipliers, const Tensor& shifts, int64_t activation_min,
                           int64_t activation_max) {
  return {CortexMKind::kTransposed,
          nhwc,
          nhwc ? kNhwcTypes : kTypes,
          input,
          weight,
          bias,
          {stride, padding, dilation, true, output_padding, 1},
          1,
          input_offset,
          multipliers,
          shifts,
          {output_offset, activation_min, activation_max}};
}

}  // namespace

Error cortex_m_transpose_conv2d_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                    const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                    Span<const int64_t> padding, Span<const int64_t> output_padding,
                                    Span<const int64_t> dilation, int64_t input_offset, int64_t output_offset,
                                    const Tensor& multipliers, const Tensor& shifts, int64_t activation_min,
                                    int64_t activation_max, const Tensor&, const Tensor&, Tensor& out) {
  const CortexMConvolution call =
      call_of(false, input, weight, bias, stride, padding, output_padding, dilation, input_offset,
              output_offset, multipliers, shifts, activation_min, activation_max);
  return convolve_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_transpose_conv2d_out(context, QuantizedConvolutionProblem{convolution},
                                                [&] { return convolve_integers(convolution); });
  });
}

Error cortex_m_transpose_conv2d_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                            const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                            Span<const int64_t> padding, Span<const int64_t> output_padding,
                                            Span<const int64_t> dilation, int64_t input_offset,
                                            int64_t output_offset, const Tensor& multipliers,
                                            const Tensor& shifts, int64_t activation_min,
                                            int64_t activation_max, const Tensor&, const Tensor&,
                                            Tensor& out) {
  const CortexMConvolution call =
      call_of(false, input, weight, bias, stride, padding, output_padding, dilation, input_offset,
              output_offset, multipliers, shifts, activation_min, activation_max);
  return prepare_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_transpose_conv2d_out_prepare(context, QuantizedConvolutionProblem{convolution});
  });
}

Error cortex_m_transpose_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                                         const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                         Span<const int64_t> padding, Span<const int64_t> output_padding,
                                         Span<const int64_t> dilation, int64_t input_offset,
                                         int64_t output_offset, const Tensor& multipliers,
                                         const Tensor& shifts, int64_t activation_min, int64_t activation_max,
                                         const Tensor&, const Tensor&, Tensor& out) {
  const CortexMConvolution call =
      call_of(true, input, weight, bias, stride, padding, output_padding, dilation, input_offset,
              output_offset, multipliers, shifts, activation_min, activation_max);
  return convolve_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_transpose_conv2d_nhwc_out(context, QuantizedConvolutionProblem{convolution},
                                                     [&] { return convolve_integers(convolution); });
  });
}

Error cortex_m_transpose_conv2d_nhwc_out_prepare(
    KernelContext& context, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
    Span<const int64_t> stride, Span<const int64_t> padding, Span<const int64_t> output_padding,
    Span<const int64_t> dilation, int64_t input_offset, int64_t output_offset, const Tensor& multipliers,
    const Tensor& shifts, int64_t activation_min, int64_t activation_max, const Tensor&, const Tensor&,
    Tensor& out) {
  const CortexMConvolution call =
      call_of(true, input, weight, bias, stride, padding, output_padding, dilation, input_offset,
              output_offset, multipliers, shifts, activation_min, activation_max);
  return prepare_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_transpose_conv2d_nhwc_out_prepare(context,
                                                             QuantizedConvolutionProblem{convolution});
  });
}

}  // namespace rushlight::kernels
