// SPDX-License-Identifier: BSD-3-Clause
// The product behind the families int8_product and int8_gemm, whose factors both lie in memory as this says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// out[i][j] = quantized(bias[j] + row_bias[i] + sum over k < depth of left[i][k] * right[k][j]); biases may
// be null.
struct Int8Rows {
  size_t rows;
  size_t columns;
  size_t depth;
  const int8_t* left;
  ptrdiff_t left_stride;
  const int8_t* right;
  ptrdiff_t right_stride;  // from column to column, or from one of the depth to the next
  const int32_t* bias;
  const int32_t* row_bias;
  const Requantization* to;
  int8_t* out;
  ptrdiff_t out_stride;
  size_t parts = 1;  // rows of the left factor, as int8_product.h has them; one without vectors
  ptrdiff_t part_stride = 0;
};

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
