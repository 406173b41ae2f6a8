// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/affine.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("quantized_decomposed::dequantize_per_tensor.out") |
                           selected_types("quantized_decomposed::dequantize_per_tensor.Tensor_out");

Error dequantize(const Tensor& input, const Affine& affine, const AffineRange& range, int64_t dtype,
                 std::optional<int64_t> out_dtype, Tensor& out) {
  RL_TRY(check_requested_dtype(out_dtype.value_or(static_cast<int64_t>(ScalarType::Float)), out));
  RL_TRY(check_type(input, kTypes & kQuantizedTypes, "input"));
  RL_TRY(check_type(out, kTypes & (kRealTypes | kScaleTypes), "out"));
  RL_TRY(check_dequantized(input, dtype, range));
  const bool is_double = out.scalar_type() == ScalarType::Double;
  const AffineRuns runs{input.scalar_type(), out.scalar_type(),
                        is_double ? ScalarType::Double : ScalarType::Float};
  RL_TRY(runs.check());
  RL_TRY(resize_out(out, input.sizes()));
  return runs.dequantize(View::of(out), View::of(input), affine);
}

}  // namespace

Error dequantize_per_tensor_out(KernelContext&, const Tensor& input, double scale, int64_t zero_point,
                                int64_t quant_min, int64_t quant_max, int64_t dtype,
                                std::optional<int64_t> out_dtype, Tensor& out) {
  return dequantize(input, {scale, static_cast<double>(zero_point)}, {quant_min, quant_max}, dtype, out_dtype,
                    out);
}

Error dequantize_per_tensor_tensor_args_out(KernelContext&, const Tensor& input, const Tensor& scale,
                                            const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                                            int64_t dtype, std::optional<int64_t> out_dtype, Tensor& out) {
  Affine affine;
  RL_TRY(read_single(scale, kScaleTypes, "scale", &affine.scale));
  RL_TRY(read_single(zero_point, kZeroPointTypes, "zero_point", &affine.zero_point));
  return dequantize(input, affine, {quant_min, quant_max}, dtype, out_dtype, out);
}

}  // namespace rushlight::kernels
