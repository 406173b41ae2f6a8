// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/checks/selection.h"
#include "kernels/matmul/mixed_matmul.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// input [rows, depth] times the transposed weight, dequantized as it is read. The weight is [columns, depth],
// with a scale for each row or for each group of a row. The last group of a row may be shorter.
Error quantized_mixed_linear_out(KernelContext&, const Tensor& input, const Tensor& weight,
                                 const Tensor& weight_scales, const std::optional<Tensor>& weight_zero_points,
                                 std::optional<int64_t> dtype, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("quantized_decomposed::mixed_linear.out");
  MixedProduct product{input, weight, weight_scales, weight_zero_points, 1, 1, 1};
  RL_TRY(check_mixed(product, kTypes));
  RL_TRY(check_type(out, kTypes & kRealTypes, "out"));
  RL_TRY(check_requested_dtype(dtype.value_or(static_cast<int64_t>(input.scalar_type())), out));
  RL_CHECK(weight_scales.dim() >= 1 && weight_scales.dim() <= 2 && weight_scales.size(0) == weight.size(0),
           Error::InvalidArgument, "weight_scales: expected one row for each of %ld",
           static_cast<long>(weight.size(0)));
  const auto depth = static_cast<size_t>(weight.size(1));
  product.per_column = weight_scales.dim() == 2 ? static_cast<size_t>(weight_scales.size(1)) : 1;
  RL_CHECK(product.per_column > 0, Error::InvalidArgument,
           "weight_scales: expected a column for each group, got none");
  product.group = std::max<size_t>((depth + product.per_column - 1) / product.per_column, 1);
  return multiply_mixed(product, out);
}

}  // namespace rushlight::kernels
