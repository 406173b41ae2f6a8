// SPDX-License-Identifier: BSD-3-Clause
// Dequantizes on the fly: (w - zero_point) in float, with one multiplication by the scale for each group.
// Converts the input anew for every column, so it needs no scratch memory.
#include "kernels/matmul/mixed_matmul.h"

#include <algorithm>

#include "kernels/checks/sizes.h"
#include "kernels/elements/convert.h"

namespace rushlight::kernels {

namespace {

// Scales and zero points are read by their position in memory, so they must be row-major.
Error check_numbers(const Tensor& numbers, const Tensor& input, const char* name) {
  RL_CHECK(numbers.scalar_type() == input.scalar_type(), Error::InvalidType, "%s: expected dtype %s, got %s",
           name, to_string(input.scalar_type()), to_string(numbers.scalar_type()));
  RL_CHECK(is_row_major(numbers.dim_order(), numbers.sizes()), Error::InvalidArgument,
           "%s: expected a row-major dim order", name);
  return Error::Ok;
}

float real_at(const char* data, ScalarType type) {
  float number = 0;
  convert_span(&number, 0, ScalarType::Float, data, 0, type, 1);
  return number;
}

float element_of(const Tensor& tensor, size_t index) {
  return real_at(tensor.const_data_ptr<char>() + index * tensor.element_size(), tensor.scalar_type());
}

constexpr size_t kRun = 32;  // elements of the input converted at a time

// One row of the input times one column of the weight. The sum of a group is scaled once. first_number is the
// index of the scale of the column's first group.
float dot(const MixedProduct& product, const char* row, const int8_t* column, size_t first_number) {
  const auto depth = static_cast<size_t>(product.input.size(1));
  const ptrdiff_t row_step = static_cast<ptrdiff_t>(product.input.strides()[1]) *
                             static_cast<ptrdiff_t>(product.input.element_size());
  const ptrdiff_t column_step = product.weight.strides()[product.depth_dim];
  float sum = 0;
  for (size_t k = 0; k < depth;) {
    const size_t number = first_number + k / product.group;
    const float zero_point = product.zero_points ? element_of(*product.zero_points, number) : 0.0F;
    // The scale multiplies the sum of a group once, not each product.
    float partial = 0;
    // The last group may be shorter.
    for (const size_t end = std::min(k + product.group, depth); k < end;) {
      const size_t n = end - k < kRun ? end - k : kRun;
      float values[kRun];
      convert_span(values, sizeof(float), ScalarType::Float, row, row_step, product.input.scalar_type(), n);
      for (size_t i = 0; i < n; ++i, column += column_step) {
        partial += values[i] * (static_cast<float>(*column) - zero_point);
      }
      k += n;
      row += static_cast<ptrdiff_t>(n) * row_step;
    }
    sum += partial * element_of(product.scales, number);
  }
  return sum;
}

}  // namespace

Error check_mixed(const MixedProduct& product, TypeSet types) {
  RL_TRY(check_type(product.input, types & kRealTypes, "input"));
  RL_TRY(check_type(product.weight, types & type_set(ScalarType::Char), "weight"));
  RL_CHECK(product.input.dim() == 2 && product.weight.dim() == 2, Error::InvalidArgument,
           "input and weight: expected rank 2, got %d and %d", static_cast<int>(product.input.dim()),
           static_cast<int>(product.weight.dim()));
  RL_CHECK(product.input.size(1) == product.weight.size(static_cast<ptrdiff_t>(product.depth_dim)),
           Error::InvalidArgument, "weight: expected a size of %ld to multiply, got %ld",
           static_cast<long>(product.input.size(1)),
           static_cast<long>(product.weight.size(static_cast<ptrdiff_t>(product.depth_dim))));
  RL_TRY(check_numbers(product.scales, product.input, "weight_scales"));
  if (!product.zero_points) return Error::Ok;
  RL_CHECK(product.zero_points->numel() == product.scales.numel(), Error::InvalidArgument,
           "weight_zero_points: expected as many as scales");
  return check_numbers(*product.zero_points, product.input, "weight_zero_points");
}

Error multiply_mixed(const MixedProduct& product, const Tensor& out) {
  RL_TRY(check_convertible(product.input.scalar_type()));
  RL_TRY(check_convertible(out.scalar_type()));
  RL_TRY(check_convertible(ScalarType::Float));
  const auto column_dim = static_cast<ptrdiff_t>(1 - product.depth_dim);
  const SizesType shape[] = {product.input.sizes()[0],
                             static_cast<SizesType>(product.weight.size(column_dim))};
  RL_TRY(resize_out(out, {shape, 2}));
  const View rows = View::of(product.input);
  const View target = View::of(out);
  const ptrdiff_t column_stride = product.weight.strides()[static_cast<size_t>(column_dim)];
  // Any layout: both matrices are addressed by their strides.
  for (ptrdiff_t i = 0; i < shape[0]; ++i) {
    for (ptrdiff_t j = 0; j < shape[1]; ++j) {
      const float sum = dot(product, rows.data + i * rows.strides[0],
                            product.weight.const_data_ptr<int8_t>() + j * column_stride,
                            static_cast<size_t>(j) * product.per_column);
      convert_span(target.data + i * target.strides[0] + j * target.strides[1], 0, target.type, &sum, 0,
                   ScalarType::Float, 1);
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
