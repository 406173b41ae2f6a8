// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/quantization/affine.h"

namespace rushlight::kernels {

// out = clamp(round(input / scale[c]) + zero_point[c]) for the channels along `axis`. Multiplies by the
// inverse of the scale and rounds halves to even, as PyTorch does; NaN becomes 0.
Error quantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                               const Tensor& zero_points, int64_t axis, int64_t quant_min, int64_t quant_max,
                               int64_t dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::quantize_per_channel.out");
  const AffineRange range{quant_min, quant_max};
  RL_TRY(check_type(input, kTypes & kRealTypes, "input"));
  RL_TRY(check_type(out, kTypes & kQuantizedTypes, "out"));
  RL_TRY(check_type(scales, kTypes & kScaleTypes, "scales"));
  RL_TRY(check_quantized(out, dtype, range));
  const AffineSpans spans{out.scalar_type(), input.scalar_type(), scales.scalar_type()};
  RL_TRY(spans.check());
  const AffineList list{scales, &zero_points};
  size_t dim;
  RL_TRY(plan_channels(input, axis, list, out, &dim));
  const QuantizePerChannelProblem problem{{{out, input}, list, axis}, range};
  return backs::quantize_per_channel_out(context, problem, [&] {
    return for_each_channel(input, dim, list, out,
                            [&](const View& target, const View& source, const Affine& affine) {
                              return spans.quantize(target, source, affine, range, ZeroPoint::kAfterRounding);
                            });
  });
}

}  // namespace rushlight::kernels
