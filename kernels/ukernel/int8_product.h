// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 matrices for cores with few registers and little memory: both factors are read where they
// are, and sums become quantized numbers before they are stored.
//
//   out[i][j] = quantized(bias[j] + sum over p < parts, k < depth of left[i][p][k] * right[j][p][k])
//   sums[j] = sum over k < depth of left[k] * right[j][k]
//
// for i < rows, j < columns. The second is for one row, whose sums are wanted as they are. Rows of the left
// factor may lie in parts, as a convolution sees an image: its rows overlap, and nothing is copied. They may
// also lie in lines: left[i] is `line_stride` behind left[i - line_rows]. Variants without kInt8ProductParts
// take one part and one line.
//
// Sums have 32 bits; the caller knows that none overflows. See requantize.h for what quantized() is.
//
// Promises: nothing is read or written but what is described, nothing needs more alignment than its type. All
// variants make the same bits. `out` overlaps nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Rows that are computed together; fewer cost more for each.
inline constexpr size_t kInt8ProductRows = native::kInt8ProductRows;
// Whether rows of the left factor may lie in parts and in lines.
inline constexpr bool kInt8ProductParts = native::kInt8ProductParts;

struct Int8Product {
  size_t rows = 0;     // any number
  size_t columns = 0;  // any number
  size_t depth = 0;    // any number
  size_t parts = 1;    // at least 1

  const int8_t* left = nullptr;  // the numbers of a part are adjacent
  ptrdiff_t left_stride = 0;     // from row to row
  ptrdiff_t part_stride = 0;     // from part to part of a row
  size_t line_rows = SIZE_MAX;   // at least 1
  ptrdiff_t line_stride = 0;     // from line to line

  const int8_t* right = nullptr;  // the numbers of a column are adjacent, in all its parts
  ptrdiff_t right_stride = 0;     // from column to column

  const int32_t* bias = nullptr;  // of each column; null: zeros
  Requantization to;              // by columns

  int8_t* out = nullptr;     // the numbers of a row are adjacent
  ptrdiff_t out_stride = 0;  // from row to row
};
RL_UKERNEL_NATIVE(void, multiply_int8, (const Int8Product& product), (product))

// multiply(line) for each line of a product, which is one alone.
template <class Multiply>
void for_each_line(const Int8Product& product, Multiply multiply) {
  Int8Product line = product;
  for (size_t rest = product.rows; rest > 0; rest -= line.rows) {
    line.rows = rest < product.line_rows ? rest : product.line_rows;
    multiply(line);
    line.left += product.line_stride;
    line.out += static_cast<ptrdiff_t>(line.rows) * product.out_stride;
  }
}

struct Int8Row {
  size_t columns = 0;  // any number
  size_t depth = 0;    // any number

  const int8_t* left = nullptr;   // adjacent numbers
  const int8_t* right = nullptr;  // the numbers of a column are adjacent
  ptrdiff_t right_stride = 0;     // from column to column

  int32_t* sums = nullptr;
};
RL_UKERNEL_NATIVE(void, multiply_int8_row, (const Int8Row& row), (row))

}  // namespace rushlight::ukernel
