// SPDX-License-Identifier: BSD-3-Clause
// int8 convolutions of ExecuTorch's Cortex-M backend; the sizes of input and weight imply the number of
// groups. Image [N, C, H, W] in channels-last order, or [N, H, W, C] for nhwc; weight [O, KH, KW, C /
// groups]. The last tensor before `out` is scratch of the official kernels and stays unused.
// kernels/quantization/cortex_m_convolution.h has the method.
#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/cortex_m_convolution.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("cortex_m::quantized_conv2d.out");
constexpr TypeSet kNhwcTypes = selected_types("cortex_m::quantized_conv2d_nhwc.out");

// The arguments as the shared problem: no output padding, groups to be computed.
CortexMConvolution call_of(bool nhwc, const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, Span<const int64_t> stride,
                           Span<const int64_t> padding, Span<const int64_t> dilation, int64_t input_offset,
                           int64_t output_offset, const Tensor& multipliers, const Tensor& shifts,
                           int64_t activation_min, int64_t activation_max) {
  static constexpr int64_t kNone = 0;
  return {CortexMKind::kPlain,
          nhwc,
          nhwc ? kNhwcTypes : kTypes,
          input,
          weight,
          bias,
          {stride, padding, dilation, false, {&kNone, 1}, 1},
          1,
          input_offset,
          multipliers,
          shifts,
          {output_offset, activation_min, activation_max}};
}

}  // namespace

Error cortex_m_conv2d_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias, Span<const int64_t> stride,
                          Span<const int64_t> padding, Span<const int64_t> dilation, int64_t input_offset,
                          int64_t output_offset, const Tensor& multipliers, const Tensor& shifts,
                          int64_t activation_min, int64_t activation_max, const Tensor&, Tensor& out) {
  const CortexMConvolution call = call_of(false, input, weight, bias, stride, padding, dilation, input_offset,
                                          output_offset, multipliers, shifts, activation_min, activation_max);
  return convolve_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_conv2d_out(context, QuantizedConvolutionProblem{convolution},
                                      [&] { return convolve_integers(convolution); });
  });
}

// Announces the scratch of a call, 9 bytes for each output channel, and lets a back pack constant weights.
Error cortex_m_conv2d_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                  const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                  Span<const int64_t> padding, Span<const int64_t> dilation,
                                  int64_t input_offset, int64_t output_offset, const Tensor& multipliers,
                                  const Tensor& shifts, int64_t activation_min, int64_t activation_max,
                                  const Tensor&, Tensor& out) {
  const CortexMConvolution call = call_of(false, input, weight, bias, stride, padding, dilation, input_offset,
                                          output_offset, multipliers, shifts, activation_min, activation_max);
  return prepare_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_conv2d_out_prepare(context, QuantizedConvolutionProblem{convolution});
  });
}

// The same with sizes in memory order, for graphs that keep every image as [N, H, W, C].
Error cortex_m_conv2d_nhwc_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                               const std::optional<Tensor>& bias, Span<const int64_t> stride,
                               Span<const int64_t> padding, Span<const int64_t> dilation,
                               int64_t input_offset, int64_t output_offset, const Tensor& multipliers,
                               const Tensor& shifts, int64_t activation_min, int64_t activation_max,
                               const Tensor&, Tensor& out) {
  const CortexMConvolution call = call_of(true, input, weight, bias, stride, padding, dilation, input_offset,
                                          output_offset, multipliers, shifts, activation_min, activation_max);
  return convolve_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_conv2d_nhwc_out(context, QuantizedConvolutionProblem{convolution},
                                           [&] { return convolve_integers(convolution); });
  });
}

Error cortex_m_conv2d_nhwc_out_prepare(KernelContext& context, const Tensor& input, const Tensor& weight,
                                       const std::optional<Tensor>& bias, Span<const int64_t> stride,
                                       Span<const int64_t> padding, Span<const int64_t> dilation,
                                       int64_t input_offset, int64_t output_offset, const Tensor& multipliers,
                                       const Tensor& shifts, int64_t activation_min, int64_t activation_max,
                                       const Tensor&, Tensor& out) {
  const CortexMConvolution call = call_of(true, input, weight, bias, stride, padding, dilation, input_offset,
                                          output_offset, multipliers, shifts, activation_min, activation_max);
  return prepare_cortex_m(context, call, out, [&](const IntegerConvolution& convolution) {
    return backs::cortex_m_conv2d_nhwc_out_prepare(context, QuantizedConvolutionProblem{convolution});
  });
}

}  // namespace rushlight::kernels
