// SPDX-License-Identifier: BSD-3-Clause
// Products of a floating-point matrix with a quantized int8 matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/quantization/affine.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A product and its tensors. The operator has checked the number of scales.
struct MixedProduct {
  const Tensor& input;                       // [rows, depth]
  const Tensor& weight;                      // two dimensions: depth and columns, see depth_dim
  const Tensor& scales;                      // has the input's dtype
  const std::optional<Tensor>& zero_points;  // shape and dtype of the scales; absent: zeros
  size_t depth_dim;                          // dimension of weight that is the depth
  // The index of the scale of weight (k, column) is column * per_column + k / group.
  size_t group;
  size_t per_column;
};

// InvalidType unless `types` contains the dtypes; InvalidArgument unless input and weight are matrices of
// equal depth.
Error check_mixed(const MixedProduct& product, TypeSet types);

// Resizes `out` and computes it with float32 sums. InvalidArgument, InvalidType.
Error multiply_mixed(const MixedProduct& product, const Tensor& out);

}  // namespace rushlight::kernels
