// SPDX-License-Identifier: BSD-3-Clause
// Requantizes blocks of int32 sums on RISC-V without vectors. A column's multiplier and shift are loaded once
// for its rows; blocks have kBlockRows rows, more than tiles. kSingle with frequent shifts takes three
// instructions: RV32 rounds the upper half of the product, RV64 the whole product. Other cases call
// requantize(). All families share one copy.
//
//   RV32   right = -1 - shift   ((sum * multiplier >> 32) + offset) >> right
//   RV64   right = 31 - shift   (sum * multiplier + offset) >> right
//
// with offset = 2^(right - 1) + zero_point * 2^right, the rounding term and the zero point in one addition.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// The block's sums take 384 bytes of stack on RV32 and 1.5 kB on RV64. kBlockRows is a multiple of the rows
// of all tiles, two and three. kNoBias serves families without a bias: a tile of eight channels reads eight.
inline constexpr size_t kBlockRows = 12;
inline constexpr size_t kBlockColumns = __riscv_xlen == 32 ? 8 : 32;
inline constexpr int32_t kNoBias[8] = {};

// The sums of rows x columns results, before their requantization, and where those go. Sums past `columns`
// may have any value.
struct Block {
  size_t rows = 0;
  size_t columns = 0;
  size_t first = 0;  // the index of its first column
  int8_t* out = nullptr;
  ptrdiff_t out_stride = 0;
  int32_t sums[kBlockRows][kBlockColumns];
};

// Requantization of a column by kSingle: shifts the product, or on RV32 its upper half, to the right.
// `offset` rounds and adds the zero point; it fits for shifts from kLeastFast to kMostFast: with 8 bits of
// zero point and right shifts of 21 or 53, product and offset stay below 2^31 or 2^63. On RV32, shifts of
// more than -2 would need bits of the lower half.
inline constexpr int kLeastFast = -22;
inline constexpr int kMostFast = __riscv_xlen == 32 ? -2 : kMostShift;

struct Scale {
  Scale(const Requantization& to, int shift, int32_t column_multiplier)
      : multiplier(column_multiplier),
        right((__riscv_xlen == 32 ? -1 : 31) - shift),
        offset((intptr_t{1} << (right - 1)) + to.zero_point * (intptr_t{1} << right)) {}

  // The quantized value of a sum: product, addition and shift, then the clamp in registers of the full width.
  [[nodiscard]] int8_t apply(int32_t sum, intptr_t low, intptr_t high) const {
    intptr_t product;
    if constexpr (__riscv_xlen == 32) {
      product = static_cast<int32_t>((static_cast<int64_t>(sum) * multiplier) >> 32);
    } else {
      product = sum * multiplier;
    }
    intptr_t value = (product + offset) >> right;
    if (value < low) value = low;
    if (value > high) value = high;
    return static_cast<int8_t>(value);
  }

  intptr_t multiplier;
  int right;
  intptr_t offset;
};

// Column `at` of a block, by any rounding and shift: requantize() for each row.
[[gnu::noinline]] inline void quantize_column(const Requantization& to, const Block& block, size_t at) {
  int8_t* out = block.out + at;
  for (size_t i = 0; i < block.rows; ++i, out += block.out_stride) {
    *out = static_cast<int8_t>(requantize(to, block.sums[i][at], block.first + at));
  }
}

// Requantizes a column, whose sums are kBlockColumns apart, two at a time; rows > 0. The loop is in the form
// that compilers which optimize for size keep.
[[gnu::always_inline]] inline void quantize_scaled(const Scale& scale, const int32_t* sum, size_t rows,
                                                   int8_t* out, ptrdiff_t out_stride, intptr_t low,
                                                   intptr_t high) {
  const int32_t* end = sum + rows * kBlockColumns;
  if (rows % 2 != 0) {
    *out = scale.apply(*sum, low, high);
    out += out_stride;
    sum += kBlockColumns;
    if (sum == end) return;
  }
  do {
    *out = scale.apply(sum[0], low, high);
    out += out_stride;
    *out = scale.apply(sum[kBlockColumns], low, high);
    out += out_stride;
    sum += 2 * kBlockColumns;
  } while (sum != end);
}

// block.out[i * out_stride + j] = quantized(block.sums[i][j]) for i < rows, j < columns; neither count is 0.
[[gnu::noinline]] inline void quantize_rows(const Requantization& to, const Block& block) {
  const intptr_t low = to.low, high = to.high;
  const bool is_single = to.rounding == Rounding::kSingle;
  ptrdiff_t at = to.step * static_cast<ptrdiff_t>(block.first);
  for (size_t j = 0; j != block.columns; ++j, at += to.step) {
    // Other roundings get a shift below kLeastFast, which has no fast path.
    const int shift = is_single ? to.shifts[at] : kLeastShift;
    if (shift >= kLeastFast && shift <= kMostFast) {
      const Scale scale(to, shift, to.multipliers[at]);
      quantize_scaled(scale, &block.sums[0][j], block.rows, block.out + j, block.out_stride, low, high);
    } else {
      quantize_column(to, block, j);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
