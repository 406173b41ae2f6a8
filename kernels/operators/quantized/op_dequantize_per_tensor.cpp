// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/quantization/affine.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("quantized_decomposed::dequantize_per_tensor.out") |
                           selected_types("quantized_decomposed::dequantize_per_tensor.Tensor_out") |
                           selected_types("cortex_m::dequantize_per_tensor.out");

// out = (input - zero_point) * scale, in float32, or in double if `out` is. The quantized range is not
// applied again.
// `ask` receives the problem and its portable computation, and may call a back instead.
template <class Ask>
Error dequantize(const Tensor& input, const Affine& affine, const AffineRange& range, int64_t dtype,
                 std::optional<int64_t> out_dtype, Tensor& out, Ask ask) {
  RL_TRY(check_requested_dtype(out_dtype.value_or(static_cast<int64_t>(ScalarType::Float)), out));
  RL_TRY(check_type(input, kTypes & kQuantizedTypes, "input"));
  RL_TRY(check_type(out, kTypes & (kRealTypes | kScaleTypes), "out"));
  RL_TRY(check_dequantized(input, dtype, range));
  // A double result is computed in double, as PyTorch does for that out_dtype.
  const bool is_double = out.scalar_type() == ScalarType::Double;
  const AffineSpans spans{input.scalar_type(), out.scalar_type(),
                          is_double ? ScalarType::Double : ScalarType::Float};
  RL_TRY(spans.check());
  RL_TRY(resize_out(out, input.sizes()));
  return ask(PerTensorProblem{{input, out}, affine},
             [&] { return spans.dequantize(View::of(out), View::of(input), affine); });
}

}  // namespace

Error dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale, int64_t zero_point,
                                int64_t quant_min, int64_t quant_max, int64_t dtype,
                                std::optional<int64_t> out_dtype, Tensor& out) {
  const auto ask = [&](const PerTensorProblem& problem, auto portable) {
    return backs::dequantize_per_tensor_out(context, problem, portable);
  };
  return dequantize(input, {scale, static_cast<double>(zero_point)}, {quant_min, quant_max}, dtype, out_dtype,
                    out, ask);
}

Error cortex_m_dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale,
                                         int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                         int64_t dtype, Tensor& out) {
  const auto ask = [&](const PerTensorProblem& problem, auto portable) {
    return backs::cortex_m_dequantize_per_tensor_out(context, problem, portable);
  };
  return dequantize(input, {scale, static_cast<double>(zero_point)}, {quant_min, quant_max}, dtype,
                    std::nullopt, out, ask);
}

// With scale and zero point in tensors, which only the program's run knows: always the portable code.
Error dequantize_per_tensor_tensor_args_out(KernelContext&, const Tensor& input, const Tensor& scale,
                                            const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                                            int64_t dtype, std::optional<int64_t> out_dtype, Tensor& out) {
  Affine affine;
  RL_TRY(read_single(scale, kScaleTypes, "scale", &affine.scale));
  RL_TRY(read_single(zero_point, kZeroPointTypes, "zero_point", &affine.zero_point));
  const auto ask = [](const PerTensorProblem&, auto portable) { return portable(); };
  return dequantize(input, affine, {quant_min, quant_max}, dtype, out_dtype, out, ask);
}

}  // namespace rushlight::kernels
