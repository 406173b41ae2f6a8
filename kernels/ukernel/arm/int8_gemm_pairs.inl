// SPDX-License-Identifier: BSD-3-Clause
// Products of int8 with plain Neon: 8 products of 16 bits, to each of which a second one is added before
// adjacent pairs are added to 32-bit sums: 16 products in three instructions. Two products fit in 16 bits
// unless all four factors are -128; panels with that value add each product separately.
//
// A vector of the panel has 4 columns: elements 0 and 1 of each, then elements 2 and 3.
#include "kernels/ukernel/arm/requantize_neon.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// As many rows as fit in registers with their factors and products.
#if defined(__aarch64__)
constexpr size_t kRows = 4;
#else
constexpr size_t kRows = 2;
#endif

constexpr size_t panel_position(size_t k, size_t j) {
  return k / 4 * 64 + j / 4 * 16 + k % 4 / 2 * 8 + j % 4 * 2 + k % 2;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_gemm_neon.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Repeats elements 0 and 1 (or 4 and 5) four times, then the next two.
template <int kHalf>
RL_INLINE int8x16_t repeat_pairs(int8x8_t numbers) {
#if defined(__aarch64__)
  constexpr uint8_t a = 4 * kHalf, b = a + 1, c = a + 2, d = a + 3;
  const uint8x16_t order = {a, b, a, b, a, b, a, b, c, d, c, d, c, d, c, d};
  return vqtbl1q_s8(vcombine_s8(numbers, vdup_n_s8(0)), order);
#else
  const int16x4_t pairs = vreinterpret_s16_s8(numbers);
  return vreinterpretq_s8_s16(
      vcombine_s16(vdup_lane_s16(pairs, 2 * kHalf), vdup_lane_s16(pairs, 2 * kHalf + 1)));
#endif
}

template <bool kPairs>
RL_INLINE int32x4_t add_products(int32x4_t sums, int8x16_t left, int8x16_t right) {
  const int16x8_t products = vmull_s8(vget_low_s8(left), vget_low_s8(right));
  if constexpr (kPairs) {
#if defined(__aarch64__)
    return vpadalq_s16(sums, vmlal_high_s8(products, left, right));
#else
    return vpadalq_s16(sums, vmlal_s8(products, vget_high_s8(left), vget_high_s8(right)));
#endif
  }
  return vpadalq_s16(vpadalq_s16(sums, products), vmull_s8(vget_high_s8(left), vget_high_s8(right)));
}

template <bool kPairs, int kHalf, size_t kCount>
RL_INLINE void add_half(int32x4_t (*sums)[4], const int8x8_t* left, const int8_t* panel) {
  int8x16_t right[4];
  RL_UNROLL for (size_t v = 0; v < 4; ++v) right[v] = vld1q_s8(panel + 64 * kHalf + 16 * v);
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) {
    const int8x16_t pairs = repeat_pairs<kHalf>(left[i]);
    RL_UNROLL for (size_t v = 0; v < 4; ++v) sums[i][v] = add_products<kPairs>(sums[i][v], pairs, right[v]);
    // Emits no instruction: keeps GCC from computing the products of later rows before it adds these.
    asm volatile("" : "+w"(sums[i][0]), "+w"(sums[i][1]), "+w"(sums[i][2]), "+w"(sums[i][3]) : : "memory");
  }
}

// Adds the products of kRows rows over `blocks` >= 1 blocks of the depth, if two products fit in 16 bits. The
// same as the intrinsics above; compilers order those such that sums spill from registers.
#if defined(__aarch64__)
#define RL_ROW(left, order, a, b, c, d)                                                                \
  "tbl v14.16b, {" left ".16b}, " order                                                                \
  ".16b\n"                                                                                             \
  "smull v4.8h, v14.8b, v0.8b\n smull v5.8h, v14.8b, v1.8b\n smull v6.8h, v14.8b, v2.8b\n"             \
  "smull v7.8h, v14.8b, v3.8b\n smlal2 v4.8h, v14.16b, v0.16b\n smlal2 v5.8h, v14.16b, v1.16b\n"       \
  "smlal2 v6.8h, v14.16b, v2.16b\n smlal2 v7.8h, v14.16b, v3.16b\n sadalp " a ".4s, v4.8h\n sadalp " b \
  ".4s, v5.8h\n sadalp " c ".4s, v6.8h\n sadalp " d ".4s, v7.8h\n"
#define RL_HALF(order)                                                                         \
  "ldp q0, q1, [%[panel]], #32\n ldp q2, q3, [%[panel]], #32\n" RL_ROW(                        \
      "v8", order, "v16", "v17", "v18", "v19") RL_ROW("v9", order, "v20", "v21", "v22", "v23") \
      RL_ROW("v10", order, "v24", "v25", "v26", "v27") RL_ROW("v11", order, "v28", "v29", "v30", "v31")
RL_INLINE void add_tile(int32x4_t (*sums)[4], const Rows<kRows>& rows, const int8_t* panel, size_t blocks) {
  alignas(16) static constexpr uint8_t kOrders[32] = {0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3,
                                                      4, 5, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7, 6, 7};
  const int8_t *left0 = rows.at[0], *left1 = rows.at[1], *left2 = rows.at[2], *left3 = rows.at[3];
  const int32x4_t* from = sums[0];
  int32x4_t* to = sums[0];
  asm volatile(
      "ldp q12, q13, [%[orders]]\n"
      "ld1 {v16.4s-v19.4s}, [%[from]], #64\n ld1 {v20.4s-v23.4s}, [%[from]], #64\n"
      "ld1 {v24.4s-v27.4s}, [%[from]], #64\n ld1 {v28.4s-v31.4s}, [%[from]]\n"
      "1:\n"
      "ldr d8, [%[left0]], #8\n ldr d9, [%[left1]], #8\n"
      "ldr d10, [%[left2]], #8\n ldr d11, [%[left3]], #8\n"  //
      RL_HALF("v12") RL_HALF("v13")
      "subs %[blocks], %[blocks], #1\n"
      "b.ne 1b\n"
      "st1 {v16.4s-v19.4s}, [%[to]], #64\n st1 {v20.4s-v23.4s}, [%[to]], #64\n"
      "st1 {v24.4s-v27.4s}, [%[to]], #64\n st1 {v28.4s-v31.4s}, [%[to]]\n"
      : [left0] "+r"(left0), [left1] "+r"(left1), [left2] "+r"(left2), [left3] "+r"(left3),
        [panel] "+r"(panel), [blocks] "+r"(blocks), [from] "+r"(from), [to] "+r"(to)
      : [orders] "r"(kOrders)
      : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
        "v31", "cc", "memory");
}
#else
#define RL_ROW(left, one, other, a, b, c, d)                                                    \
  "vdup.16 d10, " left "[" one "]\n vdup.16 d11, " left "[" other                               \
  "]\n"                                                                                         \
  "vmull.s8 q6, d10, d0\n vmull.s8 q7, d10, d2\n vmlal.s8 q6, d11, d1\n vmlal.s8 q7, d11, d3\n" \
  "vpadal.s16 " a ", q6\n vpadal.s16 " b                                                        \
  ", q7\n"                                                                                      \
  "vmull.s8 q6, d10, d4\n vmull.s8 q7, d10, d6\n vmlal.s8 q6, d11, d5\n vmlal.s8 q7, d11, d7\n" \
  "vpadal.s16 " c ", q6\n vpadal.s16 " d ", q7\n"
#define RL_HALF(one, other)                                             \
  "vld1.8 {d0-d3}, [%[panel]]!\n vld1.8 {d4-d7}, [%[panel]]!\n" RL_ROW( \
      "d8", one, other, "q8", "q9", "q10", "q11") RL_ROW("d9", one, other, "q12", "q13", "q14", "q15")
RL_INLINE void add_tile(int32x4_t (*sums)[4], const Rows<kRows>& rows, const int8_t* panel, size_t blocks) {
  const int8_t *left0 = rows.at[0], *left1 = rows.at[1];
  asm volatile(
      "vldmia %[sums], {d16-d31}\n"
      "1:\n"
      "vld1.8 {d8}, [%[left0]]!\n vld1.8 {d9}, [%[left1]]!\n"  //
      RL_HALF("0", "1") RL_HALF("2", "3")
      "subs %[blocks], %[blocks], #1\n"
      "bne 1b\n"
      "vstmia %[sums], {d16-d31}\n"
      : [left0] "+r"(left0), [left1] "+r"(left1), [panel] "+r"(panel), [blocks] "+r"(blocks)
      : [sums] "r"(sums)
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15",
        "cc", "memory");
}
#endif
#undef RL_HALF
#undef RL_ROW

template <size_t kCount, bool kPairs>
void multiply_rows(const Int8Gemm& p, const BlockQuantizer& q, size_t first) {
  int32x4_t sums[kCount][4];
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) begin(p, q, first + i, sums[i]);
  const Rows<kCount> rows(p, first);
  const auto* panel = static_cast<const int8_t*>(p.panel);
  if constexpr (kCount == kRows && kPairs) {
    if (p.depth != 0) add_tile(sums, rows, panel, block_bytes(p.depth) / kBlockBytes);
  } else {
    for (size_t k = 0; k < p.depth; k += kDepthBlock, panel += kBlockBytes) {
      int8x8_t left[kCount];
      RL_UNROLL for (size_t i = 0; i < kCount; ++i) left[i] = vld1_s8(rows.at[i] + k);
      add_half<kPairs, 0, kCount>(sums, left, panel);
      add_half<kPairs, 1, kCount>(sums, left, panel);
    }
  }
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) finish(p, q, first + i, sums[i]);
}

template <bool kPairs>
void multiply_panel(const Int8Gemm& p, const BlockQuantizer& q) {
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kRows, kPairs>(p, q, i);
  for (; kRows > 2 && i + 2 <= p.rows; i += 2) multiply_rows<2, kPairs>(p, q, i);
  for (; i < p.rows; ++i) multiply_rows<1, kPairs>(p, q, i);
}

}  // namespace

// One flag follows the blocks: 1 if an element is -128.
size_t int8_panel_bytes(size_t depth) { return block_bytes(depth) + 64; }

void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  auto* to = static_cast<int8_t*>(panel);
  to[block_bytes(depth)] = pack_blocks(to, from, depth_stride, column_stride, depth, columns) ? 1 : 0;
}

void multiply_int8_gemm(const Int8Gemm& p) {
  BlockQuantizer q;
  prepare(q, p.to, p.bias, 0, p.columns);
  if (static_cast<const int8_t*>(p.panel)[block_bytes(p.depth)] != 0) {
    multiply_panel<false>(p, q);
  } else {
    multiply_panel<true>(p, q);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
