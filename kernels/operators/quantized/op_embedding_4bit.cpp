// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/quantization/quantized_embedding.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Rows of a table with two weights in a byte; embed() has the layout and the checks. Without dtype `out` has
// the scales'.
Error quantized_embedding_4bit_out(KernelContext&, const Tensor& weight, const Tensor& weight_scales,
                                   const std::optional<Tensor>& weight_zero_points, int64_t weight_quant_min,
                                   int64_t weight_quant_max, const Tensor& indices, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::embedding_4bit.out");
  const AffineRange range{weight_quant_min, weight_quant_max};
  const QuantizedTable table{Packing::kFourBits, weight, weight_scales, weight_zero_points, range};
  return embed(table, kTypes, indices, std::nullopt, out);
}

Error quantized_embedding_4bit_dtype_out(KernelContext&, const Tensor& weight, const Tensor& weight_scales,
                                         const std::optional<Tensor>& weight_zero_points,
                                         int64_t weight_quant_min, int64_t weight_quant_max,
                                         const Tensor& indices, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::embedding_4bit.dtype_out");
  const AffineRange range{weight_quant_min, weight_quant_max};
  const QuantizedTable table{Packing::kFourBits, weight, weight_scales, weight_zero_points, range};
  return embed(table, kTypes, indices, dtype, out);
}

}  // namespace rushlight::kernels
