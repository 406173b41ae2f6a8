// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 on RISC-V without vectors. The sums of a tile stay in registers, in assembler, since
// compilers keep some in memory.
//
// RV32: three rows by four columns, 132 instructions for 48 products.
//
// RV64: three rows by eight columns, 110 instructions for 96 products, and 10 for each 3 elements of the left
// factor and kBlockColumns columns. A register holds the sums of three rows, 21 bits each: three elements of
// the left factor are packed in 64 bits, so that one multiplication gives three products. 21 bits hold kPart
// products from a start of kStart; after kPart products the sums are added to those in memory.
//
//   bits      63        42 41        21 20         0
//   panel     c[k]         b[k]         a[k]            packed as c * 2^42 + b * 2^21 + a
//   sum       row 2        row 1        row 0           += panel[k] * right[k]
//
// Negative products borrow from the field above; as the lower two fields start from kStart, their sums are
// never negative and each field can be read as it is. The upper one needs no start, since nothing is above
// it.
//
// Loops process the depth in fours and are entered at its remainder: pointers begin t = -depth mod 4 elements
// early, and the first pass skips t steps, so that nothing before the rows is read. Rows and columns that a
// tile lacks repeat the last one.
#pragma once

#include "kernels/ukernel/riscv/int8_rows.h"
#include "kernels/ukernel/riscv/quantize_rows.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Twelve sums in t0 to t6 and s1 to s5, seven pointers, three elements of the left factor, one of the right
// and a product: 27 of 31 registers, with the end and two pointers for start and result.
#if __riscv_xlen == 32

inline constexpr size_t kRows = 3;
inline constexpr size_t kColumns = 4;
static_assert(kBlockColumns % kColumns == 0 && sizeof(Block::sums[0]) == 32);

// An element of a column times an element of each of three rows: 7 instructions. The last product may
// overwrite the element, so that one register is saved.
#define RL_COLUMN(at, column, first, second, third)                                                  \
  "lb %[x], " at "(%[" column "])\nmul %[t], %[x], %[u]\nadd " first ", " first                      \
  ", %[t]\nmul %[t], %[x], %[v]\nadd " second ", " second ", %[t]\nmul %[x], %[x], %[w]\nadd " third \
  ", " third ", %[x]\n"
// A step of the depth: three elements of the left factor and four columns, 31 instructions. Offsets 0 to 3
// are part of the loads, so that pointers advance once in four steps.
#define RL_STEP(at)                                                                    \
  "lb %[u], " at "(%[p])\nlb %[v], " at "(%[q])\nlb %[w], " at                         \
  "(%[r])\n" RL_COLUMN(at, "a", "t0", "t1", "t2") RL_COLUMN(at, "b", "t3", "t4", "t5") \
      RL_COLUMN(at, "c", "t6", "s1", "s2") RL_COLUMN(at, "d", "s3", "s4", "s5")

// sums[i][j] of a tile, for depth > 0; rows of `sums` are 32 bytes apart. Sums start from `starts`, one value
// for each column.
inline void sum_tile(const int8_t* const* left, const int8_t* const* right, size_t depth,
                     const int32_t* starts, int32_t* sums) {
  const int8_t* end = right[0] + depth;
  uint32_t t = -depth & 3, x, u, v, w;
  const int8_t* p = left[0] - t;
  const int8_t* q = left[1] - t;
  const int8_t* r = left[2] - t;
  const int8_t* a = right[0] - t;
  const int8_t* b = right[1] - t;
  const int8_t* c = right[2] - t;
  const int8_t* d = right[3] - t;
  // The jumps enter the first pass at step t. The compiler chooses the registers of the pointers, the
  // assembler has fixed ones for the sums.
  asm volatile(
      "lw t0, 0(%[starts])\nlw t3, 4(%[starts])\nlw t6, 8(%[starts])\nlw s3, 12(%[starts])\n"
      "mv t1, t0\nmv t2, t0\nmv t4, t3\nmv t5, t3\nmv s1, t6\nmv s2, t6\nmv s4, s3\nmv s5, s3\n"
      "beqz %[t], 1f\n"
      "addi %[t], %[t], -2\n"
      "bltz %[t], 2f\n"
      "beqz %[t], 3f\n"
      "j 4f\n"
      "1:\n" RL_STEP("0")
      "2:\n" RL_STEP("1")
      "3:\n" RL_STEP("2")
      "4:\n" RL_STEP("3")
      "addi %[a], %[a], 4\naddi %[b], %[b], 4\naddi %[c], %[c], 4\naddi %[d], %[d], 4\n"
      "addi %[p], %[p], 4\naddi %[q], %[q], 4\naddi %[r], %[r], 4\n"
      "bne %[a], %[end], 1b\n"
      "sw t0, 0(%[sums])\nsw t3, 4(%[sums])\nsw t6, 8(%[sums])\nsw s3, 12(%[sums])\n"
      "sw t1, 32(%[sums])\nsw t4, 36(%[sums])\nsw s1, 40(%[sums])\nsw s4, 44(%[sums])\n"
      "sw t2, 64(%[sums])\nsw t5, 68(%[sums])\nsw s2, 72(%[sums])\nsw s5, 76(%[sums])\n"
      : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d), [p] "+&r"(p), [q] "+&r"(q), [r] "+&r"(r),
        [t] "+&r"(t), [x] "=&r"(x), [u] "=&r"(u), [v] "=&r"(v), [w] "=&r"(w)
      : [end] "r"(end), [sums] "r"(sums), [starts] "r"(starts)
      : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s1", "s2", "s3", "s4", "s5", "memory");
}

// sums[i][j] of kRows rows and `columns` columns of a block. Sums start from `bias`. A last tile of fewer
// columns writes up to three more elements of each row of the block, which are not used. `stride` is from
// column to column; a bias_step of 0 uses one value for all.
[[gnu::noinline]] inline void sum_columns(const int8_t* const* left, const int8_t* right, ptrdiff_t stride,
                                          size_t columns, size_t depth, const int32_t* bias,
                                          ptrdiff_t bias_step, int32_t* sums) {
  for (size_t j = 0; j < columns; j += kColumns) {
    const int8_t* each[kColumns];
    int32_t starts[kColumns];
    // Missing columns repeat the last one.
    for (size_t c = 0; c < kColumns; ++c) {
      each[c] = right;
      starts[c] = *bias;
      if (j + c + 1 >= columns) continue;
      right += stride;
      bias += bias_step;
    }
    if (depth > 0) {
      sum_tile(left, each, depth, starts, sums + j);
      continue;
    }
    for (size_t i = 0; i < kRows * kColumns; ++i)
      sums[i / kColumns * kBlockColumns + j + i % kColumns] = starts[i % kColumns];
  }
}

#else

inline constexpr size_t kRows = 3;
inline constexpr size_t kColumns = 8;
static_assert(kBlockColumns % kColumns == 0);

// The bits of a field, the products that it holds, and the start that makes the least sum, of products of
// -128 and 127, 0. The largest sum then still fits, which the assertion checks. With 20 bits a field would
// hold half as many products.
inline constexpr int kBits = 21;
inline constexpr size_t kPart = 64;
inline constexpr int32_t kStart = kPart * 127 * 128;  // the least sum is -kStart
inline constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
inline constexpr uint64_t kStarts = kStart | static_cast<uint64_t>(kStart) << kBits;
static_assert(kStart + kPart * 128 * 128 <= kMask);

// An element of a column times a packed step of three rows: three instructions.
#define RL_COLUMN(at, column, sum) \
  "lb %[w], " at "(%[" column "])\nmul %[w], %[w], %[x]\nadd " sum ", " sum ", %[w]\n"
// A step of the depth for eight columns, 25 instructions. The panel advances by 8 bytes, the columns by one.
#define RL_STEP(at, panel_at)                                                                             \
  "ld %[x], " panel_at "(%[panel])\n" RL_COLUMN(at, "a", "t0") RL_COLUMN(at, "b", "t1")                   \
      RL_COLUMN(at, "c", "t2") RL_COLUMN(at, "d", "t3") RL_COLUMN(at, "e", "t4") RL_COLUMN(at, "f", "t5") \
          RL_COLUMN(at, "g", "t6") RL_COLUMN(at, "h", "s1")

// packed[j]: the sums of three rows, 21 bits each, for eight columns; 0 < depth <= kPart. A step of the depth
// is one load of the panel and a load, a multiplication and an addition for each column.
inline void sum_tile(const int64_t* panel, const int8_t* const* right, size_t depth, uint64_t* packed) {
  uint64_t t = -depth & 3, x = kStarts, w;
  const int64_t* end = panel + depth;
  panel -= t;
  const int8_t* a = right[0] - t;
  const int8_t* b = right[1] - t;
  const int8_t* c = right[2] - t;
  const int8_t* d = right[3] - t;
  const int8_t* e = right[4] - t;
  const int8_t* f = right[5] - t;
  const int8_t* g = right[6] - t;
  const int8_t* h = right[7] - t;
  asm volatile(
      "mv t0, %[x]\nmv t1, %[x]\nmv t2, %[x]\nmv t3, %[x]\nmv t4, %[x]\nmv t5, %[x]\nmv t6, %[x]\nmv s1, %[x]\n"
      "beqz %[t], 1f\n"
      "addi %[t], %[t], -2\n"
      "bltz %[t], 2f\n"
      "beqz %[t], 3f\n"
      "j 4f\n"
      "1:\n" RL_STEP("0", "0")
      "2:\n" RL_STEP("1", "8")
      "3:\n" RL_STEP("2", "16")
      "4:\n" RL_STEP("3", "24")
      "addi %[panel], %[panel], 32\n"
      "addi %[a], %[a], 4\naddi %[b], %[b], 4\naddi %[c], %[c], 4\naddi %[d], %[d], 4\n"
      "addi %[e], %[e], 4\naddi %[f], %[f], 4\naddi %[g], %[g], 4\naddi %[h], %[h], 4\n"
      "bne %[panel], %[end], 1b\n"
      "sd t0, 0(%[packed])\nsd t1, 8(%[packed])\nsd t2, 16(%[packed])\nsd t3, 24(%[packed])\n"
      "sd t4, 32(%[packed])\nsd t5, 40(%[packed])\nsd t6, 48(%[packed])\nsd s1, 56(%[packed])\n"
      : [panel] "+&r"(panel), [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d), [e] "+&r"(e),
        [f] "+&r"(f), [g] "+&r"(g), [h] "+&r"(h), [t] "+&r"(t), [x] "+&r"(x), [w] "=&r"(w)
      : [end] "r"(end), [packed] "r"(packed)
      : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s1", "memory");
}

// Packs the elements of three rows, 21 bits each: panel[k] = c * 2^42 + b * 2^21 + a with a = left[0][k] and
// so on, borrows included.
inline void pack_rows(const int8_t* const* left, size_t depth, int64_t* panel) {
  const int8_t* a = left[0];
  const int8_t* b = left[1];
  const int8_t* c = left[2];
  for (int64_t* end = panel + depth; panel != end; ++panel, ++a, ++b, ++c) {
    *panel = ((*c * (int64_t{1} << kBits)) + *b) * (int64_t{1} << kBits) + *a;
  }
}

// sums[i][j] of kRows rows and `columns` columns of a block. Sums start from `bias`, less the starts of the
// fields of all parts. The panel of a part (512 bytes of stack) serves all columns. `stride` is from column
// to column.
[[gnu::noinline]] inline void sum_columns(const int8_t* const* left, const int8_t* right, ptrdiff_t stride,
                                          size_t columns, size_t depth, const int32_t* bias,
                                          ptrdiff_t bias_step, int32_t* sums) {
  // The lower two fields of every part start from kStart, which the totals must lose again.
  const int32_t starts = static_cast<int32_t>((depth + kPart - 1) / kPart) * kStart;
  for (size_t j = 0; j < columns; ++j, bias += bias_step) {
    sums[j] = *bias - starts;
    sums[kBlockColumns + j] = *bias - starts;
    sums[2 * kBlockColumns + j] = *bias;
  }
  const int8_t* rows[kRows] = {left[0], left[1], left[2]};
  int64_t panel[kPart];
  for (size_t k = 0; k < depth; k += kPart) {
    const size_t part = depth - k < kPart ? depth - k : kPart;
    pack_rows(rows, part, panel);
    for (const int8_t*& row : rows) row += part;
    const int8_t* column = right + k;
    for (size_t j = 0; j < columns; j += kColumns) {
      const size_t count = columns - j < kColumns ? columns - j : kColumns;
      const int8_t* each[kColumns];
      for (size_t c = 0; c < kColumns; ++c) {
        each[c] = column;
        if (c + 1 < count || count == kColumns) column += stride;
      }
      uint64_t packed[kColumns];
      sum_tile(panel, each, part, packed);
      int32_t* sum = sums + j;
      // Adds the fields to the 32-bit sums. The upper field has its sign: an arithmetic shift extends it.
      for (size_t c = 0; c < count; ++c, ++sum) {
        sum[0] += static_cast<int32_t>(packed[c] & kMask);
        sum[kBlockColumns] += static_cast<int32_t>(packed[c] >> kBits & kMask);
        sum[2 * kBlockColumns] += static_cast<int32_t>(static_cast<int64_t>(packed[c]) >> 2 * kBits);
      }
    }
  }
}

#endif

// sums[j] of a single row, by four columns and four of the depth: 58 instructions for 16 products. Sums start
// from `bias`. A tile would compute the row three times. Columns that the last four lack repeat another.
[[gnu::noinline]] inline void sum_row(const int8_t* left, const int8_t* right, ptrdiff_t stride,
                                      size_t columns, size_t depth, const int32_t* bias, ptrdiff_t bias_step,
                                      int32_t* sums) {
  const int8_t* end = left + depth;
  for (size_t j = 0; j < columns; j += 4) {
    const size_t rest = columns - j;
    // A missing column repeats an earlier one, so that nothing past the last column is read.
    const int8_t* a = left;
    const int8_t* p = right;
    const int8_t* q = rest > 1 ? p + stride : p;
    const int8_t* r = rest > 2 ? q + stride : q;
    const int8_t* s = rest > 3 ? r + stride : r;
    int32_t first = 0, second = 0, third = 0, fourth = 0, x;
#define RL_STEP_ROW(at) \
  x = a[at], first += x * p[at], second += x * q[at], third += x * r[at], fourth += x * s[at]
    for (size_t fours = depth / 4; fours > 0; --fours, a += 4, p += 4, q += 4, r += 4, s += 4) {
      RL_STEP_ROW(0);
      RL_STEP_ROW(1);
      RL_STEP_ROW(2);
      RL_STEP_ROW(3);
    }
    // The last 0 to 3 steps of the depth follow the loop of fours.
    for (; a != end; ++a, ++p, ++q, ++r, ++s) RL_STEP_ROW(0);
#undef RL_STEP_ROW
    const int32_t all[4] = {first, second, third, fourth};
    for (size_t c = 0; c < 4 && c < rest; ++c, bias += bias_step) sums[j + c] = *bias + all[c];
    right += 4 * stride;
  }
}

// Adds row_bias[i] to all sums of row i of the block.
inline void add_to_rows(const int32_t* row_bias, Block& block) {
  for (size_t i = 0; i < block.rows; ++i) {
    for (size_t j = 0; j < block.columns; ++j) block.sums[i][j] += row_bias[i];
  }
}

// Computes blocks of kBlockRows rows, so that a column's scale is loaded once for twelve results; the tiles
// of a block have three rows. Rows are the outer loop; within a block, kBlockColumns columns at a time serve
// its tiles. p.parts is 1: these variants have no kInt8ProductParts.
[[gnu::noinline]] inline void multiply_int8_rows(const Int8Rows& p) {
  Block block;
  block.out_stride = p.out_stride;
  const ptrdiff_t bias_step = p.bias == nullptr ? 0 : 1;
  for (size_t i = 0; i < p.rows; i += block.rows) {
    block.rows = p.rows - i < kBlockRows ? p.rows - i : kBlockRows;
    const int8_t* left[kBlockRows];
    const int8_t* row = p.left + static_cast<ptrdiff_t>(i) * p.left_stride;
    // Missing rows repeat the last one: their sums are computed, but not stored.
    for (size_t k = 0; k < kBlockRows; ++k) {
      left[k] = row;
      if (k + 1 < block.rows) row += p.left_stride;
    }
    for (size_t j = 0; j < p.columns; j += block.columns) {
      block.columns = p.columns - j < kBlockColumns ? p.columns - j : kBlockColumns;
      block.first = j;
      block.out = p.out + static_cast<ptrdiff_t>(i) * p.out_stride + static_cast<ptrdiff_t>(j);
      const int8_t* right = p.right + static_cast<ptrdiff_t>(j) * p.right_stride;
      const int32_t* bias = p.bias == nullptr ? kNoBias : p.bias + j;
      if (block.rows == 1) {
        sum_row(left[0], right, p.right_stride, block.columns, p.depth, bias, bias_step, block.sums[0]);
      } else {
        for (size_t first = 0; first < block.rows; first += kRows) {
          sum_columns(left + first, right, p.right_stride, block.columns, p.depth, bias, bias_step,
                      block.sums[first]);
        }
      }
      if (p.row_bias != nullptr) add_to_rows(p.row_bias + i, block);
      quantize_rows(*p.to, block);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
