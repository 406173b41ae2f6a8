// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 matrices for cores with few registers and little memory. Neither factor is packed; sums
// are requantized in registers.
//
//   out[i][j] = quantized(bias[j] + sum over p < parts, k < depth of left[i][p][k] * right[j][p][k])
//   sums[j] = sum over k < depth of left[k] * right[j][k]
//
// for i < rows, j < columns. The second form is one row whose 32-bit sums are the result. Rows of the left
// factor may consist of parts: these are the rows of a convolution's window, which overlap, so that no im2col
// copy is needed. They may also form lines: left[i] is `line_stride` after left[i - line_rows]. Variants
// without kInt8ProductParts require one part and one line.
//
// Sums have 32 bits; the caller ensures that they fit. quantized() is requantize() of requantize.h.
//
// Memory: accesses only the described elements; alignment of the element types; `out` overlaps no operand.
// All variants give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Rows that are computed together; a call with fewer rows costs more for each.
inline constexpr size_t kInt8ProductRows = native::kInt8ProductRows;
// True if rows of the left factor may consist of parts and form lines.
inline constexpr bool kInt8ProductParts = native::kInt8ProductParts;

// A convolution of a channels-last image without padding is a product with
//
//   rows          output pixels                    depth         kernel columns x channels
//   parts         kernel rows                      part_stride   elements of an image row
//   line_rows     output columns                   line_stride   row stride x elements of an image row
//   left_stride   column stride x channels         right_stride  elements of a filter
struct Int8Product {
  size_t rows = 0;     // any number
  size_t columns = 0;  // any number
  size_t depth = 0;    // any number
  size_t parts = 1;    // at least 1

  const int8_t* left = nullptr;  // the elements of a part are contiguous
  ptrdiff_t left_stride = 0;     // in elements from row to row
  ptrdiff_t part_stride = 0;     // from part to part of a row
  size_t line_rows = SIZE_MAX;   // at least 1
  ptrdiff_t line_stride = 0;     // from line to line

  const int8_t* right = nullptr;  // the elements of a column, with all parts, are contiguous
  ptrdiff_t right_stride = 0;     // from column to column

  const int32_t* bias = nullptr;  // for each column; null: zeros
  Requantization to;              // by column

  int8_t* out = nullptr;     // the elements of a row are contiguous
  ptrdiff_t out_stride = 0;  // from row to row
};
RL_UKERNEL_NATIVE(void, multiply_int8, (const Int8Product& product), (product))

// Calls multiply(line) for each line, of which the last may be shorter; `line` is a product of one line.
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

  const int8_t* left = nullptr;   // contiguous elements
  const int8_t* right = nullptr;  // the elements of a column are contiguous
  ptrdiff_t right_stride = 0;     // in elements from column to column

  int32_t* sums = nullptr;
};
RL_UKERNEL_NATIVE(void, multiply_int8_row, (const Int8Row& row), (row))

}  // namespace rushlight::ukernel
