// SPDX-License-Identifier: BSD-3-Clause
// Products of int16 with int8 weights, neither of them packed. Sums are requantized in registers.
//
//   out[i][j] = quantized(bias[j] + sum over k < depth of left[i][k] * right[j][k])
//
// for i < rows, j < columns. Sums have 48 bits (see requantize_wide()); the caller ensures that they fit. The
// inner loop adds up to kInt16Products products in 32 bits, which cannot overflow, and adds those sums in 64
// bits.
//
// Memory: accesses only the described elements; alignment of the element types; `out` overlaps no operand.
// All variants give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// 511 * 2^15 * 2^7 < 2^31.
inline constexpr size_t kInt16Products = 511;

// Rows that are computed together; a call with fewer rows costs more for each.
inline constexpr size_t kInt16ProductRows = 2;

struct Int16Product {
  size_t rows = 0;     // any number
  size_t columns = 0;  // any number
  size_t depth = 0;    // any number

  const int16_t* left = nullptr;  // the elements of a row are contiguous
  ptrdiff_t left_stride = 0;      // in elements from row to row

  const int8_t* right = nullptr;  // the elements of a column are contiguous
  ptrdiff_t right_stride = 0;     // in elements from column to column

  const int64_t* bias = nullptr;  // for each column; null: zeros
  Requantization to;              // by column

  int16_t* out = nullptr;    // the elements of a row are contiguous
  ptrdiff_t out_stride = 0;  // in elements from row to row
};
RL_UKERNEL_INTEGER(void, multiply_int16, (const Int16Product& product), (product))

}  // namespace rushlight::ukernel
