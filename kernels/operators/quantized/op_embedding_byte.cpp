// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/quantization/quantized_embedding.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Rows of a table with one weight in a byte; embed() has the checks. Without dtype `out` has the scales'.
Error quantized_embedding_byte_out(KernelContext&, const Tensor& weight, const Tensor& weight_scales,
                                   const std::optional<Tensor>& weight_zero_points, int64_t weight_quant_min,
                                   int64_t weight_quant_max, const Tensor& indices, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::embedding_byte.out");
  const AffineRange range{weight_quant_min, weight_quant_max};
  const QuantizedTable table{Packing::kByte, weight, weight_scales, weight_zero_points, range};
  return embed(table, kTypes, indices, std::nullopt, out);
}

Error quantized_embedding_byte_dtype_out(KernelContext&, const Tensor& weight, const Tensor& weight_scales,
                                         const std::optional<Tensor>& weight_zero_points,
                                         int64_t weight_quant_min, int64_t weight_quant_max,
                                         const Tensor& indices, std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::embedding_byte.dtype_out");
  const AffineRange range{weight_quant_min, weight_quant_max};
  const QuantizedTable table{Packing::kByte, weight, weight_scales, weight_zero_points, range};
  return embed(table, kTypes, indices, dtype, out);
}

}  // namespace rushlight::kernels
