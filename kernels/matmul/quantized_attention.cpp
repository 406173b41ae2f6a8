// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/matmul/quantized_attention.h"

#include "kernels/checks/checks.h"
#include "kernels/walk/paired_axes.h"

namespace rushlight::kernels {

namespace {

// One scale or zero point for each position of a head: the column stride 0 repeats it for all elements.
HeadMatrix matrix_of(const Tensor& tensor, size_t batch, size_t head, bool heads_first) {
  return {tensor.mutable_data_ptr<char>() + byte_stride(tensor, 0) * static_cast<ptrdiff_t>(batch) +
              byte_stride(tensor, heads_first ? 1 : 2) * static_cast<ptrdiff_t>(head),
          byte_stride(tensor, heads_first ? 2 : 1), 0};
}

}  // namespace

Error TokenParameters::read(const Tensor& tensor, const std::optional<Tensor>& scales,
                            const std::optional<Tensor>& zero_points, const char* name) {
  RL_CHECK(scales.has_value() && zero_points.has_value(), Error::InvalidArgument,
           "%s: expected scales and zero points", name);
  RL_CHECK(scales->scalar_type() == ScalarType::Float && zero_points->scalar_type() == ScalarType::Char,
           Error::InvalidType, "%s: expected scales of float32 and zero points of int8, got %s and %s", name,
           to_string(scales->scalar_type()), to_string(zero_points->scalar_type()));
  // [..., 1]: the sizes of the tensor, one value for each position of each head.
  Shape shape = Shape::of(tensor, 1);
  shape.push(1);
  RL_CHECK(has_sizes(*scales, shape.span()) && has_sizes(*zero_points, shape.span()), Error::InvalidArgument,
           "%s: scales, zero points: expected its sizes, the last one 1", name);
  scales_ = &*scales;
  zero_points_ = &*zero_points;
  return Error::Ok;
}

TokenScales TokenParameters::of(size_t batch, size_t head, bool heads_first) const {
  return {matrix_of(*scales_, batch, head, heads_first), matrix_of(*zero_points_, batch, head, heads_first)};
}

}  // namespace rushlight::kernels
