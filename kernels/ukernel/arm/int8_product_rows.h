// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 on Arm cores without wide vectors: four rows of the left factor are spread into a panel of
// wider elements, once for all columns, so that one load of several registers reads a step of all four.
// Before it includes this, a source defines:
//
//   constexpr size_t kPanelBytes            bytes of a step of the depth of four rows
//   constexpr size_t kPartDepth             depth of a panel, which is on the stack
//   constexpr size_t kLeastDepth            the least depth for spread() and add_columns()
//   struct Columns                          arguments of add_columns()
//   Columns columns_of(panel, right, depth) for the columns from `right` on
//   void spread(rows, depth, panel)         spreads a part of four rows
//   void add_columns(Columns&)              sums of each column += panel * right
//   add_row(...)                            sums of one row += left * right; returns the next column
//
// Read in place, four rows would take four loads for each step of the depth. A tile is four rows by one
// column, whose sums stay in registers along the part; sums of up to 32 columns are kept between the parts of
// a longer depth.
//
// Memory: kPartDepth * kPanelBytes bytes (512 or 1024) for the panel, 512 for the sums. These cores have no
// kInt8ProductParts: rows have one part and form one line.
#pragma once

#include "kernels/ukernel/arm/requantize_scalar.h"
#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 32;  // columns whose sums are kept: 512 bytes of stack

// sums[j][0 to 3] = bias of column j, where `step` is 0 if one zero serves all columns. Not inlined: its
// caller has few registers left.
[[gnu::noinline]] inline void begin(const int32_t* bias, ptrdiff_t step, int32_t* sums, const int32_t* end) {
  for (; sums != end; sums += 4, bias += step) {
    const int32_t sum = *bias;
    sums[0] = sum;
    sums[1] = sum;
    sums[2] = sum;
    sums[3] = sum;
  }
}

// Multiplies `count` <= 4 rows with all columns. rows[i] for i >= count repeats another row, and its sums are
// not stored.
inline void multiply_rows(const Int8Product& p, const int8_t* const* rows, size_t count, int8_t* out) {
  alignas(8) int8_t panel[kPartDepth * kPanelBytes];
  int32_t sums[kColumns][4];
  for (size_t j = 0; j < p.columns; j += kColumns) {
    const size_t columns = p.columns - j < kColumns ? p.columns - j : kColumns;
    const int32_t zero = 0;
    const int32_t* bias = p.bias == nullptr ? &zero : p.bias + j;
    const ptrdiff_t bias_step = p.bias == nullptr ? 0 : 1;
    begin(bias, bias_step, sums[0], sums[columns]);
    const int8_t* right = p.right + static_cast<ptrdiff_t>(j) * p.right_stride;
    for (size_t k = 0; k < p.depth; k += kPartDepth) {
      const size_t depth = p.depth - k < kPartDepth ? p.depth - k : kPartDepth;
      // A depth of one part is spread once for all columns, a longer one again for each block of columns.
      if (j == 0 || p.depth > kPartDepth) {
        const int8_t* part[4] = {rows[0] + k, rows[1] + k, rows[2] + k, rows[3] + k};
        spread(part, depth, panel);
      }
      Columns work = columns_of(panel, right + k, depth);
      work.right_stride = p.right_stride;
      work.sums = sums[0];
      work.sums_end = sums[columns];
      add_columns(work);
    }
    quantize_columns(p.to, j, columns, sums[0], 4, count, out + j, p.out_stride);
  }
}

// Multiplies a single row: no panel, which would save no loads.
// add_row() returns the column after the last one, so that columns continue there.
inline void multiply_one(const Int8Product& p, const int8_t* left, int8_t* out) {
  int32_t sums[kColumns];
  const int8_t* right = p.right;
  for (size_t j = 0; j < p.columns; j += kColumns) {
    const size_t columns = p.columns - j < kColumns ? p.columns - j : kColumns;
    for (size_t c = 0; c < columns; ++c) sums[c] = p.bias == nullptr ? 0 : p.bias[j + c];
    right = add_row(left, right, p.right_stride, p.depth, sums, columns);
    quantize_columns(p.to, j, columns, sums, 1, 1, out + j, 0);
  }
}

}  // namespace

void multiply_int8(const Int8Product& p) {
  const int8_t* left = p.left;
  int8_t* out = p.out;
  size_t rest = p.rows;
  while (rest > 0) {
    // Two and three rows are computed as four. A depth below
    // kLeastDepth has no panel.
    size_t count = rest < 4 ? rest : 4;
    if (count > 1 && p.depth >= kLeastDepth) {
      const int8_t* rows[4];
      for (size_t i = 0; i < 4; ++i) rows[i] = left + static_cast<ptrdiff_t>(i % count) * p.left_stride;
      multiply_rows(p, rows, count, out);
    } else {
      count = 1;
      multiply_one(p, left, out);
    }
    rest -= count;
    left += static_cast<ptrdiff_t>(count) * p.left_stride;
    out += static_cast<ptrdiff_t>(count) * p.out_stride;
  }
}

// The sums of multiply_int8_row() start from zero; add_row() adds to what it finds.
void multiply_int8_row(const Int8Row& p) {
  for (size_t j = 0; j < p.columns; ++j) p.sums[j] = 0;
  add_row(p.left, p.right, p.right_stride, p.depth, p.sums, p.columns);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
