// SPDX-License-Identifier: BSD-3-Clause
// Products of a floating matrix with a quantized one, whose numbers are int8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/quantization/affine.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct MixedProduct {
  const Tensor& input;                       // [rows, depth]
  const Tensor& weight;                      // depth and columns are one of its dimensions each
  const Tensor& scales;                      // of the input's dtype
  const std::optional<Tensor>& zero_points;  // as many, of the same dtype; none are zeros
  size_t depth_dim;                          // of weight
  // The scale of the weight at (k, column) is number column * per_column + k / group.
  size_t group;
  size_t per_column;
};

// InvalidType, InvalidArgument unless input and weight are matrices of one depth, of `types`.
Error check_mixed(const MixedProduct& product, TypeSet types);

// Gives `out` its shape and computes it, in float. InvalidArgument, InvalidType.
Error multiply_mixed(const MixedProduct& product, const Tensor& out);

}  // namespace rushlight::kernels
