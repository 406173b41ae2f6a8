// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/matmul/mixed_matmul.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// input [rows, depth] times the weight, dequantized as it is read. The weight is [depth, columns], with a
// scale for each row.
Error quantized_mixed_mm_out(KernelContext&, const Tensor& input, const Tensor& weight,
                             const Tensor& weight_scales, const std::optional<Tensor>& weight_zero_points,
                             Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::mixed_mm.out");
  const MixedProduct product{input, weight, weight_scales, weight_zero_points, 0, 1, 0};
  RL_TRY(check_mixed(product, kTypes));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_CHECK(weight_scales.dim() == 1 && weight_scales.size(0) == weight.size(0), Error::InvalidArgument,
           "weight_scales: expected one for each of %ld rows", static_cast<long>(weight.size(0)));
  return multiply_mixed(product, out);
}

}  // namespace rushlight::kernels
