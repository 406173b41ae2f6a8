// SPDX-License-Identifier: BSD-3-Clause
// The product that the families int8_product and int8_gemm share; it reads both factors in place.
// int8_rows_rvv.h and int8_rows_scalar.h implement multiply_int8_rows(). Panels of int8_gemm hold plain int8,
// so that one loop serves packed and unpacked factors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// out[i][j] = quantized(bias[j] + row_bias[i] + sum over k < depth of left[i][k] * right[k][j]), for rows x
// columns results. Biases may be null: zeros. Elements of a left row are contiguous; strides are in elements.
// Sums have 32 bits; the caller ensures that they fit. `out` overlaps no operand.
struct Int8Rows {
  size_t rows;
  size_t columns;
  size_t depth;
  const int8_t* left;
  ptrdiff_t left_stride;
  const int8_t* right;
  ptrdiff_t right_stride;  // from column to column, or from one k to the next
  const int32_t* bias;
  const int32_t* row_bias;
  const Requantization* to;
  int8_t* out;
  ptrdiff_t out_stride;
  size_t parts = 1;  // parts of left rows, as in int8_product.h; 1 without vectors
  ptrdiff_t part_stride = 0;
};

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
