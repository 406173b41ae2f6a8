// SPDX-License-Identifier: BSD-3-Clause
// Products of int16 with int8 weights: both factors are read where they are, and sums become quantized
// numbers before they are stored.
//
//   out[i][j] = quantized(bias[j] + sum over k < depth of left[i][k] * right[j][k])
//
// for i < rows, j < columns.
//
// Sums have 48 bits, see requantize_wide(); the caller knows that none has more. Loops add up to
// kInt16Products products in 32 bits, as no sum of so many overflows, and those sums in 64.
//
// Promises: nothing is read or written but what is described, nothing needs more alignment than its type. All
// variants make the same bits. `out` overlaps nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// 2^15 * 2^7 times so many is below 2^31.
inline constexpr size_t kInt16Products = 511;

// Rows that are computed together; fewer cost more for each.
inline constexpr size_t kInt16ProductRows = 2;

struct Int16Product {
  size_t rows = 0;     // any number
  size_t columns = 0;  // any number
  size_t depth = 0;    // any number

  const int16_t* left = nullptr;  // the numbers of a row are adjacent
  ptrdiff_t left_stride = 0;      // from row to row

  const int8_t* right = nullptr;  // the numbers of a column are adjacent
  ptrdiff_t right_stride = 0;     // from column to column

  const int64_t* bias = nullptr;  // of each column; null: zeros
  Requantization to;              // by columns

  int16_t* out = nullptr;    // the numbers of a row are adjacent
  ptrdiff_t out_stride = 0;  // from row to row
};
RL_UKERNEL_INTEGER(void, multiply_int16, (const Int16Product& product), (product))

}  // namespace rushlight::ukernel
