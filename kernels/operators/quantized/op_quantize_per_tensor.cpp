// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/quantization/affine.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("quantized_decomposed::quantize_per_tensor.out") |
                           selected_types("quantized_decomposed::quantize_per_tensor.Tensor_out") |
                           selected_types("cortex_m::quantize_per_tensor.out");

// out = clamp(round(input / scale) + zero_point), in float32. Multiplies by the inverse of the scale and
// rounds halves to even, as PyTorch does; NaN becomes 0.
// `ask` receives the problem and its portable computation, and may call a back instead.
template <class Ask>
Error quantize(const Tensor& input, const Affine& affine, const AffineRange& range, int64_t dtype,
               Tensor& out, Ask ask) {
  RL_TRY(check_type(input, kTypes & kRealTypes, "input"));
  RL_TRY(check_type(out, kTypes & kQuantizedTypes, "out"));
  RL_TRY(check_quantized(out, dtype, range));
  const AffineSpans spans{out.scalar_type(), input.scalar_type(), ScalarType::Float};
  RL_TRY(spans.check());
  RL_TRY(resize_out(out, input.sizes()));
  return ask(QuantizePerTensorProblem{{{out, input}, affine}, range}, [&] {
    return spans.quantize(View::of(out), View::of(input), affine, range, ZeroPoint::kAfterRounding);
  });
}

}  // namespace

Error quantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                              int64_t quant_min, int64_t quant_max, int64_t dtype, Tensor& out) {
  const auto ask = [&](const QuantizePerTensorProblem& problem, auto portable) {
    return backs::quantize_per_tensor_out(context, problem, portable);
  };
  return quantize(input, {scale, static_cast<double>(zero_point)}, {quant_min, quant_max}, dtype, out, ask);
}

Error quantize_per_tensor_tensor_args_out(KernelContext&, const Tensor& input, const Tensor& scale,
                                          const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                                          int64_t dtype, Tensor& out) {
  Affine affine;
  RL_TRY(read_single(scale, kScaleTypes, "scale", &affine.scale));
  RL_TRY(read_single(zero_point, kZeroPointTypes, "zero_point", &affine.zero_point));
  const auto ask = [](const QuantizePerTensorProblem&, auto portable) { return portable(); };
  return quantize(input, affine, {quant_min, quant_max}, dtype, out, ask);
}

}  // namespace rushlight::kernels
