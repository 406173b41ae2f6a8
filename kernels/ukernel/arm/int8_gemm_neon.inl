// SPDX-License-Identifier: BSD-3-Clause
// Shared by the Neon variants of int8_gemm: spread rows are plain copies, and a panel consists of blocks of 8
// elements of the depth and 16 columns, in which panel_position() gives an element's position. Each variant
// defines multiply_rows<kRows>, <2> if kRows is larger, and <1>.
#include <cstring>

#include "kernels/ukernel/arm/requantize_neon.h"
#include "kernels/ukernel/int8_gemm.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kDepthBlock = 8;
constexpr size_t kBlockBytes = kDepthBlock * kBlock;

// The rows of a tile. Bytes past the end of a row, up to a whole block, do not matter: the panel has
// zeros there.
template <size_t kCount>
struct Rows {
  RL_INLINE Rows(const Int8Gemm& p, size_t first) {
    RL_UNROLL for (size_t i = 0; i < kCount; ++i) {
      at[i] = static_cast<const int8_t*>(p.left) + static_cast<ptrdiff_t>(first + i) * p.left_stride;
    }
  }
  const int8_t* at[kCount];
};

// Starts the sums of a row from the biases of the columns and the row.
RL_INLINE void begin(const Int8Gemm& p, const BlockQuantizer& q, size_t row, int32x4_t* sums) {
  const int32x4_t row_bias = vdupq_n_s32(p.row_bias == nullptr ? 0 : p.row_bias[row]);
  RL_UNROLL for (size_t v = 0; v < 4; ++v) sums[v] = vaddq_s32(vld1q_s32(q.bias + 4 * v), row_bias);
}

RL_INLINE void finish(const Int8Gemm& p, const BlockQuantizer& q, size_t row, int32x4_t* sums) {
  store_block(p.out + static_cast<ptrdiff_t>(row) * p.out_stride, quantize(q, sums), p.columns);
}

// Packs the blocks of a panel; returns true if an element is -128.
bool pack_blocks(int8_t* to, const int8_t* from, ptrdiff_t depth_stride, ptrdiff_t column_stride,
                 size_t depth, size_t columns) {
  bool any_least = false;
  for (size_t k = 0; k < depth; k += kDepthBlock, to += kBlockBytes) {
    for (size_t j = 0; j < kBlock; ++j) {
      const int8_t* at =
          from + static_cast<ptrdiff_t>(k) * depth_stride + static_cast<ptrdiff_t>(j) * column_stride;
      for (size_t i = 0; i < kDepthBlock; ++i) {
        const bool inside = j < columns && k + i < depth;
        const int8_t number = inside ? at[static_cast<ptrdiff_t>(i) * depth_stride] : int8_t{0};
        any_least = any_least || number == -128;
        to[panel_position(i, j)] = number;
      }
    }
  }
  return any_least;
}

size_t block_bytes(size_t depth) { return (depth + kDepthBlock - 1) / kDepthBlock * kBlockBytes; }

}  // namespace

size_t int8_gemm_depth(size_t depth) { return (depth + kDepthBlock - 1) / kDepthBlock * kDepthBlock; }
size_t int8_gemm_columns() { return kBlock; }
size_t int8_gemm_rows() { return kRows; }
size_t int8_spread_bytes() { return 1; }
void spread_int8(void* to, const int8_t* from, size_t count) { std::memcpy(to, from, count); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
