// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// out = (input - zero_point[t]) * scale[t] for each token t, a row along the last dimension.
Error dequantize_per_token_out(KernelContext&, const Tensor& input, const Tensor& scales,
                               const Tensor& zero_points, int64_t quant_min, int64_t quant_max, int64_t dtype,
                               int64_t output_dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::dequantize_per_token.out");
  RL_TRY(check_requested_dtype(output_dtype, out));
  RL_TRY(check_type(input, kTypes & kQuantizedTypes, "input"));
  RL_TRY(check_type(out, kTypes & (kRealTypes | kScaleTypes), "out"));
  RL_TRY(check_type(scales, kTypes & kScaleTypes, "scales"));
  RL_TRY(check_dequantized(input, dtype, {quant_min, quant_max}));
  const AffineSpans spans{input.scalar_type(), out.scalar_type(), scales.scalar_type()};
  RL_TRY(spans.check());
  const AffineList list{scales, &zero_points};
  return for_each_token(input, list, out, [&](const View& target, const View& source, const Affine& affine) {
    return spans.dequantize(target, source, affine);
  });
}

}  // namespace rushlight::kernels
