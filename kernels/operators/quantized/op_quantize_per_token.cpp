// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// out = clamp(round(input / scale[t] + zero_point[t])) for each token t, a row along the last dimension. Here
// the zero point is added before rounding, unlike per tensor and per channel, as PyTorch defines it.
Error quantize_per_token_out(KernelContext&, const Tensor& input, const Tensor& scales,
                             const Tensor& zero_points, int64_t quant_min, int64_t quant_max, int64_t dtype,
                             Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::quantize_per_token.out");
  const AffineRange range{quant_min, quant_max};
  RL_TRY(check_type(input, kTypes & kRealTypes, "input"));
  RL_TRY(check_type(out, kTypes & kQuantizedTypes, "out"));
  RL_TRY(check_type(scales, kTypes & kScaleTypes, "scales"));
  RL_TRY(check_quantized(out, dtype, range));
  const AffineSpans spans{out.scalar_type(), input.scalar_type(), scales.scalar_type()};
  RL_TRY(spans.check());
  return for_each_token(input, {scales, &zero_points}, out,
                        [&](const View& target, const View& source, const Affine& affine) {
                          return spans.quantize(target, source, affine, range, ZeroPoint::kBeforeRounding);
                        });
}

}  // namespace rushlight::kernels
