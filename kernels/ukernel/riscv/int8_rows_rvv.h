// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 with vectors of any length; lanes are columns. If the elements of a column are contiguous
// (kByColumns), a strided load reads one of each column. Elements of the right factor are widened to 16 bits
// once for all rows of a tile, multiplied by an element of each row and added to 32-bit sums. A tile has
// three rows of as many columns as eight registers hold, at most kMostLanes, or six rows of half as many
// columns if that covers them.
//
//   rows   registers of sums   of a widened column   multiply-adds a load of it
//   3      3 x 8               4                       3
//   6      6 x 4               2                       6
//
// VWMACC.VX multiplies an int16 vector with a scalar and adds to int32 in one instruction; with int8 it has
// sums of 16 bits only. The left factor is loaded as scalars. The sums of a tile go through memory to
// quantize_block().
#pragma once

#include <riscv_vector.h>

#include "kernels/ukernel/riscv/int8_rows.h"
#include "kernels/ukernel/riscv/quantize_rvv.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// The right factor from column `column` on; next() advances by one element of the depth. load_m4() and
// load_m2() read one element of each of `lanes` columns and widen it to int16, in four or two registers.
template <bool kByColumns>
struct Right {
  Right(const Int8Rows& p, size_t column)
      : from(p.right + static_cast<ptrdiff_t>(column) * (kByColumns ? p.right_stride : 1)),
        stride(p.right_stride) {}
  void next() { from += kByColumns ? 1 : stride; }
  [[nodiscard]] vint16m4_t load_m4(size_t lanes) const {
    return __riscv_vsext_vf2_i16m4(
        kByColumns ? __riscv_vlse8_v_i8m2(from, stride, lanes) : __riscv_vle8_v_i8m2(from, lanes), lanes);
  }
  [[nodiscard]] vint16m2_t load_m2(size_t lanes) const {
    return __riscv_vsext_vf2_i16m2(
        kByColumns ? __riscv_vlse8_v_i8m1(from, stride, lanes) : __riscv_vle8_v_i8m1(from, lanes), lanes);
  }

  const int8_t* from;
  ptrdiff_t stride;
};

// sums[i][j] of one row or three, by columns from `column` on: [kRows][lanes], contiguous. Sums start from
// the bias. `left` has kRows pointers. The parts of a column are adjacent, so that `right` advances through
// all of them.
template <bool kByColumns, size_t kRows>
inline void sum_wide(const Int8Rows& p, const int8_t* const* left, size_t column, size_t lanes,
                     int32_t* sums) {
  vint32m8_t a = load_bias(p.bias, column, lanes), b = a, c = a;
  Right<kByColumns> right(p, column);
  const int8_t* left_a = left[0];
  const int8_t* left_b = left[kRows == 3 ? 1 : 0];
  const int8_t* left_c = left[kRows == 3 ? 2 : 0];
  for (size_t part = p.parts; part > 0; --part) {
#pragma clang loop unroll_count(4)
    for (size_t k = 0; k < p.depth; ++k, right.next()) {
      const vint16m4_t numbers = right.load_m4(lanes);
      a = __riscv_vwmacc_vx_i32m8(a, left_a[k], numbers, lanes);
      if constexpr (kRows == 3) {
        b = __riscv_vwmacc_vx_i32m8(b, left_b[k], numbers, lanes);
        c = __riscv_vwmacc_vx_i32m8(c, left_c[k], numbers, lanes);
      }
    }
    left_a += p.part_stride;
    left_b += p.part_stride;
    left_c += p.part_stride;
  }
  __riscv_vse32_v_i32m8(sums, a, lanes);
  if constexpr (kRows == 3) {
    __riscv_vse32_v_i32m8(sums + lanes, b, lanes);
    __riscv_vse32_v_i32m8(sums + 2 * lanes, c, lanes);
  }
}

// The same for six rows by at most half as many columns: [6][lanes].
template <bool kByColumns>
inline void sum_six(const Int8Rows& p, const int8_t* const* left, size_t column, size_t lanes,
                    int32_t* sums) {
  // The lower half of a group of eight registers: at most half of its lanes are used.
  vint32m4_t a = __riscv_vget_v_i32m8_i32m4(load_bias(p.bias, column, lanes), 0), b = a, c = a, d = a, e = a,
             f = a;
  const int8_t* left_a = left[0];
  const int8_t* left_b = left[1];
  const int8_t* left_c = left[2];
  const int8_t* left_d = left[3];
  const int8_t* left_e = left[4];
  const int8_t* left_f = left[5];
  Right<kByColumns> right(p, column);
  for (size_t part = p.parts; part > 0; --part) {
#pragma clang loop unroll_count(4)
    for (size_t k = 0; k < p.depth; ++k, right.next()) {
      const vint16m2_t numbers = right.load_m2(lanes);
      a = __riscv_vwmacc_vx_i32m4(a, left_a[k], numbers, lanes);
      b = __riscv_vwmacc_vx_i32m4(b, left_b[k], numbers, lanes);
      c = __riscv_vwmacc_vx_i32m4(c, left_c[k], numbers, lanes);
      d = __riscv_vwmacc_vx_i32m4(d, left_d[k], numbers, lanes);
      e = __riscv_vwmacc_vx_i32m4(e, left_e[k], numbers, lanes);
      f = __riscv_vwmacc_vx_i32m4(f, left_f[k], numbers, lanes);
    }
    left_a += p.part_stride;
    left_b += p.part_stride;
    left_c += p.part_stride;
    left_d += p.part_stride;
    left_e += p.part_stride;
    left_f += p.part_stride;
  }
  __riscv_vse32_v_i32m4(sums, a, lanes);
  __riscv_vse32_v_i32m4(sums + lanes, b, lanes);
  __riscv_vse32_v_i32m4(sums + 2 * lanes, c, lanes);
  __riscv_vse32_v_i32m4(sums + 3 * lanes, d, lanes);
  __riscv_vse32_v_i32m4(sums + 4 * lanes, e, lanes);
  __riscv_vse32_v_i32m4(sums + 5 * lanes, f, lanes);
}

// Computes all rows and columns by tiles. The columns are the outer loop: the block of the right factor,
// depth * columns bytes, is read again for each tile of rows. Missing rows of a tile repeat the last one and
// are not stored. Takes 1.5 kB of stack for the sums.
template <bool kByColumns>
[[gnu::noinline]] inline void multiply_int8_rows(const Int8Rows& p) {
  constexpr size_t kMostRows = 6;
  const size_t half = most_lanes() / 2;
  Block block;
  block.to = p.to;
  block.out_stride = p.out_stride;
  for (size_t j = 0; j < p.columns; j += block.columns) {
    // All columns that are left, or as many as fit. Not vsetvl, which may split what two vectors hold into
    // equal parts.
    block.columns = p.columns - j < 2 * half ? p.columns - j : 2 * half;
    block.first = j;
    for (size_t i = 0; i < p.rows; i += block.rows) {
      const size_t rest = p.rows - i;
      // The smallest kernel that covers the remaining rows, but at most three rows if the columns need all
      // lanes.
      const size_t most = rest == 1 ? 1 : rest <= 3 || block.columns > half ? 3 : kMostRows;
      block.rows = rest < most ? rest : most;
      block.row_bias = p.row_bias == nullptr ? nullptr : p.row_bias + i;
      block.out = p.out + static_cast<ptrdiff_t>(i) * p.out_stride + static_cast<ptrdiff_t>(j);
      const int8_t* left[kMostRows];  // missing rows repeat the last one
      const int8_t* row = p.left + static_cast<ptrdiff_t>(i) * p.left_stride;
      for (size_t k = 0; k < most; ++k) {
        left[k] = row;
        if (k + 1 < block.rows) row += p.left_stride;
      }
      if (most == kMostRows) {
        sum_six<kByColumns>(p, left, j, block.columns, block.sums);
      } else if (most == 3) {
        sum_wide<kByColumns, 3>(p, left, j, block.columns, block.sums);
      } else {
        sum_wide<kByColumns, 1>(p, left, j, block.columns, block.sums);
      }
      quantize_block(block);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
