// SPDX-License-Identifier: BSD-3-Clause
// Products of a floating-point matrix with a quantized int8 matrix, dequantized on the fly; for the operators
// mixed_mm and mixed_linear:
//
//   out[i][j] = sum over k of input[i][k] * (weight[k, j] - zero_point[k, j]) * scale[k, j]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/quantization/affine.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A product and its tensors. The operator has checked the number of scales, so indices of (k, column) are
// valid.
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

// InvalidType unless `types` contains the dtypes, and scales and zero points have the input's;
// InvalidArgument unless input and weight are matrices of equal depth and scales and zero points are
// row-major, equally many.
Error check_mixed(const MixedProduct& product, TypeSet types);

// Resizes `out` and computes it with float32 sums: a group's sum is multiplied by its scale once, and each
// element is rounded once to the dtype of `out`, which may differ from the input's. Precondition:
// check_mixed(). InvalidArgument, InvalidType. Cost: rows * columns * depth multiply-adds, and as many
// subtractions.
Error multiply_mixed(const MixedProduct& product, const Tensor& out);

}  // namespace rushlight::kernels
