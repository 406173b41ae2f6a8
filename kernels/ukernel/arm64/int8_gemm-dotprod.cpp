// SPDX-License-Identifier: BSD-3-Clause
// SDOT by an element: 4 elements of a row with 4 elements of each of 4 columns. A vector of the panel has 4
// columns with 4 elements each.
#include "kernels/ukernel/arm/requantize_neon.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;

constexpr size_t panel_position(size_t k, size_t j) { return k / 4 * 64 + j * 4 + k % 4; }

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_gemm_neon.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Adds four elements of the depth, half kHalf of a block: four loads of the panel serve kCount rows.
template <int kHalf, size_t kCount>
RL_INLINE void add_half(int32x4_t (*sums)[4], const int8x8_t* left, const int8_t* panel) {
  RL_UNROLL for (size_t v = 0; v < 4; ++v) {
    const int8x16_t right = vld1q_s8(panel + 64 * kHalf + 16 * v);
    RL_UNROLL for (size_t i = 0; i < kCount; ++i) {
      sums[i][v] = vdotq_lane_s32(sums[i][v], right, left[i], kHalf);
    }
  }
}

// Rows of 8 elements are loaded at once; sums of four rows by 16 columns take half of the 32 registers.
template <size_t kCount>
void multiply_rows(const Int8Gemm& p, const BlockQuantizer& q, size_t first) {
  int32x4_t sums[kCount][4];
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) begin(p, q, first + i, sums[i]);
  const Rows<kCount> rows(p, first);
  const auto* panel = static_cast<const int8_t*>(p.panel);
  for (size_t k = 0; k < p.depth; k += kDepthBlock, panel += kBlockBytes) {
    int8x8_t left[kCount];
    RL_UNROLL for (size_t i = 0; i < kCount; ++i) left[i] = vld1_s8(rows.at[i] + k);
    add_half<0, kCount>(sums, left, panel);
    add_half<1, kCount>(sums, left, panel);
  }
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) finish(p, q, first + i, sums[i]);
}

}  // namespace

size_t int8_panel_bytes(size_t depth) { return block_bytes(depth); }

void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  pack_blocks(static_cast<int8_t*>(panel), from, depth_stride, column_stride, depth, columns);
}

// Constants of the requantization are prepared once for all rows.
void multiply_int8_gemm(const Int8Gemm& p) {
  BlockQuantizer q;
  prepare(q, p.to, p.bias, 0, p.columns);
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kRows>(p, q, i);
  for (; i + 2 <= p.rows; i += 2) multiply_rows<2>(p, q, i);
  for (; i < p.rows; ++i) multiply_rows<1>(p, q, i);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
