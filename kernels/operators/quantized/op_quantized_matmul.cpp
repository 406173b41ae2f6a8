// SPDX-License-Identifier: BSD-3-Clause
// Products of two quantized matrices, or of as many as a batch has: dequantize, mm or bmm, and quantize in
// one. Zero points are subtracted first, so that factors are int16 and sums, which have 32 bits, need no
// correction.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/product.h"
#include "kernels/quantization/one_scale.h"
#include "kernels/quantization/requantization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_matmul.out") & kQuantizedNumbers;
constexpr ptrdiff_t kBlock = 32;  // columns that are summed together

struct ZeroPoints {
  int16_t a;
  int16_t b;
};

// One row of the result.
template <class T>
void multiply_row(const ProductMatrices& product, const T* a, T* out, ZeroPoints zero_points,
                  const ukernel::Requantization& to) {
  const auto columns = static_cast<ptrdiff_t>(product.columns);
  for (ptrdiff_t first = 0; first < columns; first += kBlock) {
    const ptrdiff_t width = columns - first < kBlock ? columns - first : kBlock;
    ProductSum<T> sums[kBlock] = {};
    const auto* b = static_cast<const T*>(product.b.data) + first * product.b.column_stride;
    for (size_t k = 0; k < product.depth; ++k, b += product.b.row_stride) {
      const auto left =
          static_cast<int16_t>(a[static_cast<ptrdiff_t>(k) * product.a.column_stride] - zero_points.a);
      if (product.b.column_stride == 1) {
        for (ptrdiff_t j = 0; j < width; ++j) sums[j] += left * static_cast<int16_t>(b[j] - zero_points.b);
      } else {
        for (ptrdiff_t j = 0; j < width; ++j)
          sums[j] += left * (b[j * product.b.column_stride] - zero_points.b);
      }
    }
    for (ptrdiff_t j = 0; j < width; ++j) {
      out[(first + j) * product.out.column_stride] = static_cast<T>(ukernel::requantize_sum(to, sums[j], 0));
    }
  }
}

template <class T>
void multiply_rows(const ProductMatrices& product, ZeroPoints zero_points,
                   const ukernel::Requantization& to) {
  for (size_t i = 0; i < product.rows; ++i) {
    const auto row = static_cast<ptrdiff_t>(i);
    multiply_row(product, static_cast<const T*>(product.a.data) + row * product.a.row_stride,
                 static_cast<T*>(product.out.data) + row * product.out.row_stride, zero_points, to);
  }
}

}  // namespace

Error quantized_matmul_out(KernelContext&, const Tensor& self, int64_t self_zero_point, const Tensor& mat2,
                           int64_t mat2_zero_point, const Tensor& multipliers,
                           const std::optional<Tensor>& shifts, std::string_view rounding,
                           int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  constexpr size_t kLargest = 255;
  const bool batched = self.dim() == 3;
  Product product;
  RL_TRY(plan_product(self, mat2, out, batched ? 3 : 2, kTypes, &product));
  RL_TRY(check_zero_point(self_zero_point, self.scalar_type(), "self_zero_point"));
  RL_TRY(check_zero_point(mat2_zero_point, self.scalar_type(), "mat2_zero_point"));
  Shape shape = Shape::of(self, 1);
  shape.push(static_cast<ptrdiff_t>(product.columns));
  RL_TRY(resize_out(out, shape.span()));
  RL_CHECK(product.depth <= INT32_MAX, Error::InvalidArgument, "self: %lu products a sum are too many",
           static_cast<unsigned long>(product.depth));
  ukernel::Requantization proven;
  const RequantizationArguments to{
      std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}};
  if (contains(kTypes, ScalarType::Short) && out.scalar_type() == ScalarType::Short) {
    // A product of two int16 is as large as kWeights products with int8.
    constexpr size_t kWeights = 256;
    RL_CHECK(product.depth <= INT32_MAX / kWeights, Error::InvalidArgument,
             "self: %lu products a sum are too many", static_cast<unsigned long>(product.depth));
    RL_TRY(make_requantization(to, out, 1, product.depth * kWeights, &proven));
  } else {
    RL_TRY(make_requantization_of_sums(to, out, product.depth * kLargest, &proven));
  }
  const OneScale scale(proven);
  const ZeroPoints zero_points{static_cast<int16_t>(self_zero_point), static_cast<int16_t>(mat2_zero_point)};
  const size_t batches = batched ? static_cast<size_t>(self.size(0)) : 1;
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    for (size_t batch = 0; batch < batches; ++batch) {
      product.a = Matrix::of(self, batch);
      product.b = Matrix::of(mat2, batch);
      product.out = Matrix::of(out, batch);
      multiply_rows<typename decltype(type)::Element>(product, zero_points, scale.get());
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
