// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/quantization/affine.h"

namespace rushlight::kernels {

// out = (input - zero_point[c]) * scale[c] for the channels along `axis`; absent zero points are 0. Computes
// in the dtype of the scales. The quantized range is not applied again.
Error dequantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                                 const std::optional<Tensor>& zero_points, int64_t axis, int64_t quant_min,
                                 int64_t quant_max, int64_t dtype, std::optional<int64_t> out_dtype,
                                 Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::dequantize_per_channel.out");
  RL_TRY(check_requested_dtype(out_dtype.value_or(static_cast<int64_t>(ScalarType::Float)), out));
  RL_TRY(check_type(input, kTypes & kQuantizedTypes, "input"));
  RL_TRY(check_type(out, kTypes & (kRealTypes | kScaleTypes), "out"));
  RL_TRY(check_type(scales, kTypes & kScaleTypes, "scales"));
  RL_TRY(check_dequantized(input, dtype, {quant_min, quant_max}));
  const AffineSpans spans{input.scalar_type(), out.scalar_type(), scales.scalar_type()};
  RL_TRY(spans.check());
  const AffineList list{scales, zero_points ? &*zero_points : nullptr};
  size_t dim;
  RL_TRY(plan_channels(input, axis, list, out, &dim));
  return backs::dequantize_per_channel_out(context, PerChannelProblem{{input, out}, list, axis}, [&] {
    return for_each_channel(input, dim, list, out,
                            [&](const View& target, const View& source, const Affine& affine) {
                              return spans.dequantize(target, source, affine);
                            });
  });
}

}  // namespace rushlight::kernels
