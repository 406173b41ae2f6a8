// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/small/convolve.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                      const std::optional<Tensor>& bias, Span<const int64_t> stride,
                      Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                      Span<const int64_t> output_padding, int64_t groups, Tensor& out);

namespace optimized {

Error convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                      const std::optional<Tensor>& bias, Span<const int64_t> stride,
                      Span<const int64_t> padding, Span<const int64_t> dilation, bool transposed,
                      Span<const int64_t> output_padding, int64_t groups, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::convolution.out");
  if (!all_of(kTypes, input, out)) {
    RL_FALL_BACK("aten::convolution.out", convolution_out, context, input, weight, bias, stride, padding,
                 dilation, transposed, output_padding, groups, out);
  }
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  Shape shape;
  RL_TRY(convolution_shape(input, weight, bias, arguments, &shape));
  RL_TRY(resize_out(out, shape.span()));
  (void)convolve_small(input, weight, bias, arguments, false, out);
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
