// SPDX-License-Identifier: BSD-3-Clause
// Batched int8 matrix products of ExecuTorch's Cortex-M backend: lhs [batch, rows, depth], rhs_transposed
// [batch, columns, depth]. Sums are exact integers. ExecuTorch's reference sums in float32, which is exact
// below 2^24.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/folded_columns.h"
#include "kernels/quantization/integer_product.h"
#include "kernels/walk/permuted_tensor.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes =
    selected_types("cortex_m::quantized_batch_matmul.out") & type_set(ScalarType::Char);
constexpr int64_t kLargestFactor = 255;
constexpr uint8_t kTransposed[] = {0, 2, 1};

}  // namespace

Error cortex_m_quantized_batch_matmul_out(KernelContext&, const Tensor& lhs, int64_t lhs_offset,
                                          const Tensor& rhs_transposed, int64_t rhs_offset,
                                          int64_t output_zero_point, int64_t output_multiplier,
                                          int64_t output_shift, const Tensor&, Tensor& out) {
  int32_t lhs_zero_point = 0, rhs_zero_point = 0;
  RL_TRY(read_offset(lhs_offset, "lhs_zero_point", &lhs_zero_point));
  RL_TRY(read_offset(rhs_offset, "rhs_zero_point", &rhs_zero_point));
  RL_CHECK(rhs_transposed.dim() == 3, Error::InvalidArgument, "rhs_transposed: expected rank 3, got %d",
           static_cast<int>(rhs_transposed.dim()));
  // A permuted view undoes the transpose; the portable product accepts any strides.
  const PermutedTensor rhs(rhs_transposed, kTransposed);
  Product product;
  RL_TRY(plan_product(lhs, rhs.get(), out, 3, kTypes, &product));
  Shape shape = Shape::of(lhs, 1);
  shape.push(static_cast<ptrdiff_t>(product.columns));
  RL_TRY(resize_out(out, shape.span()));
  // Offsets are negative zero points of int8, so each factor is at most 255 in magnitude.
  int64_t bound = 0;
  RL_TRY(bound_sums(nullptr, 0, product.depth, kLargestFactor * kLargestFactor, &bound));
  SumScale scale;
  RL_TRY(scale.set(output_multiplier, output_shift, bound, {output_zero_point, INT8_MIN, INT8_MAX}));
  return multiply_integers(product,
                           {static_cast<int16_t>(lhs_zero_point), static_cast<int16_t>(rhs_zero_point)},
                           scale.get(), lhs, rhs.get(), out);
}

}  // namespace rushlight::kernels
