// SPDX-License-Identifier: BSD-3-Clause
// Products of two quantized matrices or batches of them: dequantize, mm or bmm, and quantize fused. Zero
// points are subtracted first: factors are int16, and sums (32 bits, or 48 for 16-bit inputs) need no
// correction.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/product.h"
#include "kernels/quantization/integer_product.h"
#include "kernels/quantization/one_scale.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_matmul.out") & kQuantizedElements;

}  // namespace

Error quantized_matmul_out(KernelContext&, const Tensor& self, int64_t self_zero_point, const Tensor& mat2,
                           int64_t mat2_zero_point, const Tensor& multipliers,
                           const std::optional<Tensor>& shifts, std::string_view rounding,
                           int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  // The largest difference of two bytes: a product of two is as large as kLargest differences.
  constexpr size_t kLargest = 255;
  const bool batched = self.dim() == 3;
  Product product;
  RL_TRY(plan_product(self, mat2, out, batched ? 3 : 2, kTypes, &product));
  RL_TRY(check_zero_point(self_zero_point, self.scalar_type(), "self_zero_point"));
  RL_TRY(check_zero_point(mat2_zero_point, self.scalar_type(), "mat2_zero_point"));
  Shape shape = Shape::of(self, 1);
  shape.push(static_cast<ptrdiff_t>(product.columns));
  RL_TRY(resize_out(out, shape.span()));
  // Keeps the bounds below from overflowing.
  RL_CHECK(product.depth <= INT32_MAX, Error::InvalidArgument, "self: expected a smaller depth, got %lu",
           static_cast<unsigned long>(product.depth));
  ukernel::Requantization proven;
  const RequantizationArguments to{
      std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}};
  if (contains(kTypes, ScalarType::Short) && out.scalar_type() == ScalarType::Short) {
    // A product of two int16 values is as large as kWeights products with int8.
    constexpr size_t kWeights = 256;
    RL_CHECK(product.depth <= INT32_MAX / kWeights, Error::InvalidArgument,
             "self: expected a smaller depth, got %lu", static_cast<unsigned long>(product.depth));
    RL_TRY(make_requantization(to, out, 1, product.depth * kWeights, &proven));
  } else {
    RL_TRY(make_requantization_of_sums(to, out, product.depth * kLargest, &proven));
  }
  const OneScale scale(proven);
  return multiply_integers(product,
                           {static_cast<int16_t>(self_zero_point), static_cast<int16_t>(mat2_zero_point)},
                           scale.get(), self, mat2, out);
}

}  // namespace rushlight::kernels
