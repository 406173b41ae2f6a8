// SPDX-License-Identifier: BSD-3-Clause
// SMMLA: 8 elements of 2 rows with 8 elements of 2 columns, whose four sums are a vector. A vector of the
// panel has 2 columns with 8 elements each.
#include "kernels/ukernel/arm/requantize_neon.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;

constexpr size_t panel_position(size_t k, size_t j) { return j * 8 + k; }

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_gemm_neon.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// An odd last row is multiplied twice.
template <size_t kCount>
void multiply_rows(const Int8Gemm& p, const BlockQuantizer& q, size_t first) {
  constexpr size_t kTwos = (kCount + 1) / 2;
  // A square has the sums of two rows by two columns: [row 0, columns 0 and 1; row 1, columns 0 and 1].
  int32x4_t squares[kTwos][8];
  RL_UNROLL for (size_t i = 0; i < kTwos; ++i) {
    RL_UNROLL for (size_t v = 0; v < 8; ++v) squares[i][v] = vdupq_n_s32(0);
  }
  const Rows<kCount> rows(p, first);
  const auto* panel = static_cast<const int8_t*>(p.panel);
  for (size_t k = 0; k < p.depth; k += kDepthBlock, panel += kBlockBytes) {
    int8x16_t left[kTwos];
    RL_UNROLL for (size_t i = 0; i < kTwos; ++i) {
      const size_t other = 2 * i + 1 < kCount ? 2 * i + 1 : 2 * i;
      left[i] = vcombine_s8(vld1_s8(rows.at[2 * i] + k), vld1_s8(rows.at[other] + k));
    }
    RL_UNROLL for (size_t v = 0; v < 8; ++v) {
      const int8x16_t right = vld1q_s8(panel + 16 * v);
      RL_UNROLL for (size_t i = 0; i < kTwos; ++i) squares[i][v] = vmmlaq_s32(squares[i][v], left[i], right);
    }
  }
  RL_UNROLL for (size_t i = 0; i < kCount; ++i) {
    int32x4_t sums[4];
    begin(p, q, first + i, sums);
    RL_UNROLL for (size_t v = 0; v < 4; ++v) {
      // Splits squares into rows: the lower halves of two squares are four columns of the first row, the
      // upper ones of the second.
      const int64x2_t one = vreinterpretq_s64_s32(squares[i / 2][2 * v]);
      const int64x2_t other = vreinterpretq_s64_s32(squares[i / 2][2 * v + 1]);
      const int64x2_t row = i % 2 == 0 ? vuzp1q_s64(one, other) : vuzp2q_s64(one, other);
      sums[v] = vaddq_s32(sums[v], vreinterpretq_s32_s64(row));
    }
    finish(p, q, first + i, sums);
  }
}

}  // namespace

size_t int8_panel_bytes(size_t depth) { return block_bytes(depth); }

void pack_int8(void* panel, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  pack_blocks(static_cast<int8_t*>(panel), from, depth_stride, column_stride, depth, columns);
}

void multiply_int8_gemm(const Int8Gemm& p) {
  BlockQuantizer q;
  prepare(q, p.to, p.bias, 0, p.columns);
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kRows>(p, q, i);
  for (; i + 2 <= p.rows; i += 2) multiply_rows<2>(p, q, i);
  for (; i < p.rows; ++i) multiply_rows<1>(p, q, i);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
