// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 on RISC-V without vectors: a tile's sums stay in sixteen registers, in assembler, as
// compilers keep some of them in memory. The right factor lies by depth, so that one pointer serves all
// columns of a tile.
//
// RV32: two rows by eight columns, 175 instructions for 64 products.
// RV64: three rows by sixteen columns, 60 instructions for 48 products. A register has the sums of three
// rows, 21 bits each: three numbers of the left factor lie in one register, and one multiplication makes
// three products. So many bits hold kPart products from a start of kStart; after that many, sums are added to
// those in memory.
//
// Tiles at the right edge overlap the ones before them; fewer columns than a tile has are computed by less.
#pragma once

#include "kernels/ukernel/riscv/int8_rows.h"
#include "kernels/ukernel/riscv/quantize_rows.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#define RL_SUMS "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"

#if __riscv_xlen == 32

inline constexpr size_t kRows = 2;
inline constexpr size_t kColumns = 8;
inline constexpr size_t kNarrow = 1;  // columns of the lesser tile
inline constexpr size_t kFew = 3;     // up to so many columns are computed sooner by lesser tiles

// A column's products in two rows, while the next number on the right is loaded.
#define RL_COLUMN(number, load_next, first, second)                                               \
  load_next "mul %[t], %[x], " number "\nmul " number ", %[y], " number "\nadd " first ", " first \
            ", %[t]\nadd " second ", " second ", " number "\n"
#define RL_STEP(at)                                                                                          \
  "lb %[w], 0(%[right])\nlb %[x], " at "(%[a])\nlb %[y], " at                                                \
  "(%[b])\n" RL_COLUMN("%[w]", "lb %[v], 1(%[right])\n", "t0", "t1") RL_COLUMN(                              \
      "%[v]", "lb %[w], 2(%[right])\n", "t2", "t3") RL_COLUMN("%[w]", "lb %[v], 3(%[right])\n", "t4", "t5")  \
      RL_COLUMN("%[v]", "lb %[w], 4(%[right])\n", "t6", "s1")                                                \
          RL_COLUMN("%[w]", "lb %[v], 5(%[right])\n", "s2", "s3")                                            \
              RL_COLUMN("%[v]", "lb %[w], 6(%[right])\n", "s4", "s5")                                        \
                  RL_COLUMN("%[w]", "lb %[v], 7(%[right])\nadd %[right], %[right], %[stride]\n", "s6", "s7") \
                      RL_COLUMN("%[v]", "", "s8", "s9")

// sums[i][j] of a whole tile, for depth > 0; they begin with sums[0][j] of `bias`. The loop is entered where
// the depth modulo 4 asks.
inline void sum_tile(const int8_t* const* left, const int8_t* right, ptrdiff_t stride, size_t depth,
                     const int32_t* bias, int32_t* sums) {
  const int8_t* end = left[0] + depth;
  uint32_t t = -depth & 3, x, y, w;
  const int8_t* a = left[0] - t;
  const int8_t* b = left[1] - t;
  asm volatile(
      "lw t0, 0(%[v])\nlw t2, 4(%[v])\nlw t4, 8(%[v])\nlw t6, 12(%[v])\n"
      "lw s2, 16(%[v])\nlw s4, 20(%[v])\nlw s6, 24(%[v])\nlw s8, 28(%[v])\n"
      "mv t1, t0\nmv t3, t2\nmv t5, t4\nmv s1, t6\nmv s3, s2\nmv s5, s4\nmv s7, s6\nmv s9, s8\n"
      "beqz %[t], 1f\n"
      "addi %[t], %[t], -2\n"
      "bltz %[t], 2f\n"
      "beqz %[t], 3f\n"
      "j 4f\n"
      "1:\n" RL_STEP("0")
      "2:\n" RL_STEP("1")
      "3:\n" RL_STEP("2")
      "4:\n" RL_STEP("3")
      "addi %[a], %[a], 4\naddi %[b], %[b], 4\n"
      "bne %[a], %[end], 1b\n"
      "sw t0, 0(%[sums])\nsw t2, 4(%[sums])\nsw t4, 8(%[sums])\nsw t6, 12(%[sums])\n"
      "sw s2, 16(%[sums])\nsw s4, 20(%[sums])\nsw s6, 24(%[sums])\nsw s8, 28(%[sums])\n"
      "sw t1, 32(%[sums])\nsw t3, 36(%[sums])\nsw t5, 40(%[sums])\nsw s1, 44(%[sums])\n"
      "sw s3, 48(%[sums])\nsw s5, 52(%[sums])\nsw s7, 56(%[sums])\nsw s9, 60(%[sums])\n"
      : [a] "+&r"(a), [b] "+&r"(b), [right] "+&r"(right), [t] "+&r"(t), [x] "=&r"(x), [y] "=&r"(y),
        [v] "+&r"(bias), [w] "=&r"(w)
      : [stride] "r"(stride), [end] "r"(end), [sums] "r"(sums)
      : RL_SUMS, "memory");
}

template <size_t kCount>
inline void sum_columns(const int8_t* const* left, const int8_t* right, ptrdiff_t stride, size_t depth,
                        const int32_t* bias, int32_t* sums) {
  if (kCount == kColumns && depth > 0) {
    sum_tile(left, right, stride, depth, bias, sums);
    return;
  }
  for (size_t j = 0; j < kCount; ++j) {
    const int8_t* a = left[0];
    const int8_t* b = left[1];
    const int8_t* column = right + j;
    int32_t first = bias[j], second = first;
    for (const int8_t* end = a + depth; a != end; ++a, ++b, column += stride) {
      first += *a * *column;
      second += *b * *column;
    }
    sums[j] = first;
    sums[kBlockColumns + j] = second;
  }
}

#else

inline constexpr size_t kRows = 3;
inline constexpr size_t kColumns = 16;
inline constexpr size_t kNarrow = 4;
inline constexpr size_t kFew = 8;

inline constexpr int kBits = 21;
inline constexpr size_t kPart = 64;
inline constexpr int32_t kStart = kPart * 127 * 128;  // the least sum is -kStart
inline constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
inline constexpr uint64_t kStarts = kStart | static_cast<uint64_t>(kStart) << kBits;
static_assert(kStart + kPart * 128 * 128 <= kMask);

#define RL_THREE(at_0, at_1, at_2, a, b, c)                                  \
  "lb %[w], " at_0 "(%[right])\nlb %[v], " at_1 "(%[right])\nlb %[u], " at_2 \
  "(%[right])\n"                                                             \
  "mul %[w], %[w], %[x]\nmul %[v], %[v], %[x]\nmul %[u], %[u], %[x]\n"       \
  "add " a ", " a ", %[w]\nadd " b ", " b ", %[v]\nadd " c ", " c ", %[u]\n"

// sums[j] += the sums of three rows in 21 bits each; 0 < depth <= kPart.
inline void sum_part(const int8_t* const* left, const int8_t* right, ptrdiff_t stride, size_t depth,
                     uint64_t* sums) {
  const int8_t* a = left[0];
  const int8_t* b = left[1];
  const int8_t* c = left[2];
  const int8_t* end = a + depth;
  uint64_t x = kStarts, u, v, w;
  asm volatile(
      "mv t0, %[x]\nmv t1, %[x]\nmv t2, %[x]\nmv t3, %[x]\nmv t4, %[x]\nmv t5, %[x]\nmv t6, %[x]\nmv s1, %[x]\n"
      "mv s2, %[x]\nmv s3, %[x]\nmv s4, %[x]\nmv s5, %[x]\nmv s6, %[x]\nmv s7, %[x]\nmv s8, %[x]\nmv s9, %[x]\n"
      "1:\n"
      "lb %[x], 0(%[c])\nlb %[w], 0(%[b])\nlb %[v], 0(%[a])\n"
      "addi %[a], %[a], 1\naddi %[b], %[b], 1\naddi %[c], %[c], 1\n"
      "slli %[x], %[x], 21\nadd %[x], %[x], %[w]\nslli %[x], %[x], 21\nadd %[x], %[x], %[v]\n"
      RL_THREE("0", "1", "2", "t0", "t1", "t2")
      RL_THREE("3", "4", "5", "t3", "t4", "t5")
      RL_THREE("6", "7", "8", "t6", "s1", "s2")
      RL_THREE("9", "10", "11", "s3", "s4", "s5")
      RL_THREE("12", "13", "14", "s6", "s7", "s8")
      "lb %[w], 15(%[right])\nadd %[right], %[right], %[stride]\nmul %[w], %[w], %[x]\nadd s9, s9, %[w]\n"
      "bne %[a], %[end], 1b\n"
      "sd t0, 0(%[sums])\nsd t1, 8(%[sums])\nsd t2, 16(%[sums])\nsd t3, 24(%[sums])\n"
      "sd t4, 32(%[sums])\nsd t5, 40(%[sums])\nsd t6, 48(%[sums])\nsd s1, 56(%[sums])\n"
      "sd s2, 64(%[sums])\nsd s3, 72(%[sums])\nsd s4, 80(%[sums])\nsd s5, 88(%[sums])\n"
      "sd s6, 96(%[sums])\nsd s7, 104(%[sums])\nsd s8, 112(%[sums])\nsd s9, 120(%[sums])\n"
      : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [right] "+&r"(right), [x] "+&r"(x), [u] "=&r"(u),
        [v] "=&r"(v), [w] "=&r"(w)
      : [stride] "r"(stride), [end] "r"(end), [sums] "r"(sums)
      : RL_SUMS, "memory");
}

// The same of fewer columns.
template <size_t kCount>
inline void sum_few(const int8_t* const* left, const int8_t* right, ptrdiff_t stride, size_t depth,
                    uint64_t* sums) {
  const int8_t* a = left[0];
  const int8_t* b = left[1];
  const int8_t* c = left[2];
  uint64_t s0 = kStarts, s1 = kStarts, s2 = kStarts, s3 = kStarts;
  for (const int8_t* end = a + depth; a != end; ++a, ++b, ++c, right += stride) {
    const int64_t x = ((*c * (int64_t{1} << kBits)) + *b) * (int64_t{1} << kBits) + *a;
    s0 += static_cast<uint64_t>(x * right[0]);
    if constexpr (kCount == 4) {
      s1 += static_cast<uint64_t>(x * right[1]);
      s2 += static_cast<uint64_t>(x * right[2]);
      s3 += static_cast<uint64_t>(x * right[3]);
    }
  }
  sums[0] = s0;
  if constexpr (kCount == 4) {
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
  }
}

template <size_t kCount>
inline void sum_columns(const int8_t* const* left, const int8_t* right, ptrdiff_t stride, size_t depth,
                        const int32_t* bias, int32_t* sums) {
  const int32_t starts = static_cast<int32_t>((depth + kPart - 1) / kPart) * kStart;
  for (size_t j = 0; j < kCount; ++j) {
    const int32_t sum = bias[j];
    sums[j] = sum - starts;
    sums[kBlockColumns + j] = sum - starts;
    sums[2 * kBlockColumns + j] = sum;
  }
  const int8_t* rows[kRows] = {left[0], left[1], left[2]};
  while (depth > 0) {
    uint64_t packed[kCount];
    const size_t part = depth < kPart ? depth : kPart;
    if constexpr (kCount == kColumns) {
      sum_part(rows, right, stride, part, packed);
    } else {
      sum_few<kCount>(rows, right, stride, part, packed);
    }
    int32_t* sum = sums;
    for (const uint64_t each : packed) {
      sum[0] += static_cast<int32_t>(each & kMask);
      sum[kBlockColumns] += static_cast<int32_t>(each >> kBits & kMask);
      sum[2 * kBlockColumns] += static_cast<int32_t>(static_cast<int64_t>(each) >> 2 * kBits);
      ++sum;
    }
    depth -= part;
    right += static_cast<ptrdiff_t>(part) * stride;
    for (const int8_t*& row : rows) row += part;
  }
}

#endif

inline constexpr size_t kAlone = 8;  // columns of a tile of one row

// sums[j] of a row that is alone. 28 instructions for 8 products.
inline void sum_row(const int8_t* left, const int8_t* right, ptrdiff_t stride, size_t depth,
                    const int32_t* bias, int32_t* sums) {
  int32_t s0 = bias[0], s1 = bias[1], s2 = bias[2], s3 = bias[3];
  int32_t s4 = bias[4], s5 = bias[5], s6 = bias[6], s7 = bias[7];
  for (const int8_t* end = left + depth; left != end; ++left, right += stride) {
    const int32_t x = *left;
    s0 += x * right[0];
    s1 += x * right[1];
    s2 += x * right[2];
    s3 += x * right[3];
    s4 += x * right[4];
    s5 += x * right[5];
    s6 += x * right[6];
    s7 += x * right[7];
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
  sums[4] = s4;
  sums[5] = s5;
  sums[6] = s6;
  sums[7] = s7;
}

// Columns of the next tile, of which `rest` of `columns` are left.
inline size_t tile_columns(size_t rows, size_t columns, size_t rest) {
  if (rows == 1 && columns >= kAlone) return kAlone;
  if (rest > kFew && columns >= kColumns) return kColumns;
  return columns >= kNarrow ? kNarrow : 1;
}

inline void add_to_rows(const int32_t* row_bias, Block& block) {
  for (size_t i = 0; i < block.rows; ++i) {
    for (size_t j = 0; j < block.columns; ++j) block.sums[i][j] += row_bias[i];
  }
}

[[gnu::noinline]] inline void multiply_int8_rows(const Int8Rows& p) {
  Block block;
  block.out_stride = p.out_stride;
  for (size_t i = 0; i < p.rows; i += block.rows) {
    block.rows = p.rows - i < kBlockRows ? p.rows - i : kBlockRows;
    int8_t* out = p.out + static_cast<ptrdiff_t>(i) * p.out_stride;
    const int8_t* left[kBlockRows];  // rows that are not there repeat the last one
    for (size_t k = 0; k < kBlockRows; ++k) {
      const size_t row = k < block.rows ? k : block.rows - 1;
      left[k] = p.left + static_cast<ptrdiff_t>(i + row) * p.left_stride;
    }
    for (size_t j = 0; j < p.columns; j += block.columns) {
      const size_t rest = p.columns - j;
      block.columns = tile_columns(block.rows, p.columns, rest);
      if (rest < block.columns) j = p.columns - block.columns;
      block.first = j;
      block.out = out + j;
      const int8_t* right = p.right + j;
      const int32_t* bias = p.bias == nullptr ? kNoBias : p.bias + j;
      const bool is_alone = block.rows == 1 && block.columns == kAlone;
      if (is_alone) {
        sum_row(left[0], right, p.right_stride, p.depth, bias, block.sums[0]);
      }
      for (size_t row = is_alone ? 1 : 0; row < block.rows; row += kRows) {
        int32_t* sums = block.sums[row];
        if (block.columns == kColumns) {
          sum_columns<kColumns>(left + row, right, p.right_stride, p.depth, bias, sums);
        } else if (block.columns == kNarrow) {
          sum_columns<kNarrow>(left + row, right, p.right_stride, p.depth, bias, sums);
        } else {
          sum_columns<1>(left + row, right, p.right_stride, p.depth, bias, sums);
        }
      }
      if (p.row_bias != nullptr) add_to_rows(p.row_bias + i, block);
      quantize_rows(*p.to, block);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
