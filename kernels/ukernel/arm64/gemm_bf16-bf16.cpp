// SPDX-License-Identifier: BSD-3-Clause
// BFMMLA: 4 elements of 2 rows with 4 elements of 2 columns, whose four sums are a vector. A vector of a
// panel has 2 columns with 4 elements each. Sums are squares of 2 x 2 while products are added, and then
// rows.
#include <arm_neon.h>

#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/generic/narrow_gemm.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;  // more rows spill registers in GCC 12
constexpr size_t kGroup = 4;

template <size_t kR, size_t kV>
struct Products {
  RL_INLINE static void add(Sums<kR, kV>& sums, const uint16_t* const* a, const uint16_t* b, size_t depth) {
    Squares squares;
    RL_UNROLL for (size_t i = 0; i < kTwos; ++i) {
      RL_UNROLL for (size_t v = 0; v < 2 * kV; ++v) squares[i][v] = splat(0.0f);
    }
    size_t p = 0;
    for (; p + kGroup <= depth; p += kGroup, b += kGroup * kColumns) {
      add_group(squares, b, [&](size_t r) { return vld1_u16(a[r] + p); });
    }
    if (p < depth) {
      add_group(squares, b, [&](size_t r) {
        uint64_t rest = 0;
        for (size_t i = depth; i-- > p;) rest = rest << 16 | a[r][i];
        return vcreate_u16(rest);
      });
    }
    // The lower halves of two squares are four columns of the first row, the upper ones of the second.
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      RL_UNROLL for (size_t v = 0; v < kV; ++v) {
        const F32 one = squares[r / 2][2 * v];
        const F32 other = squares[r / 2][2 * v + 1];
        sums[r][v] = r % 2 == 0 ? __builtin_shufflevector(one, other, 0, 1, 4, 5)
                                : __builtin_shufflevector(one, other, 2, 3, 6, 7);
      }
    }
  }

 private:
  static constexpr size_t kTwos = (kR + 1) / 2;
  using Squares = F32[kTwos][2 * kV];

  // An odd last row is multiplied twice.
  template <class Four>
  RL_INLINE static void add_group(Squares& squares, const uint16_t* b, Four four_of) {
    bfloat16x8_t left[kTwos];
    RL_UNROLL for (size_t i = 0; i < kTwos; ++i) {
      const size_t second = 2 * i + 1 < kR ? 2 * i + 1 : 2 * i;
      left[i] = vreinterpretq_bf16_u16(vcombine_u16(four_of(2 * i), four_of(second)));
    }
    RL_UNROLL for (size_t v = 0; v < 2 * kV; ++v) {
      const bfloat16x8_t right = vreinterpretq_bf16_u16(vld1q_u16(b + 8 * v));
      RL_UNROLL for (size_t i = 0; i < kTwos; ++i) {
        squares[i][v] = vbfmmlaq_f32(squares[i][v], left[i], right);
      }
    }
  }
};

}  // namespace

bool gemm_has_bf16() { return true; }
size_t gemm_rows_bf16() { return kRows; }
size_t gemm_columns_bf16() { return kColumns; }
size_t gemm_group_bf16() { return kGroup; }
void gemm_tile_bf16(const GemmTile16& tile) { multiply_tiles<kRows, 2>(tile); }
void gemm_pack_bf16(uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                    size_t depth, size_t columns) {
  pack_groups<kGroup>(panel, b, row_stride, column_stride, depth, columns,
                      [](uint16_t* fours, const GroupRows<kGroup>& rows) {
                        for (size_t j = 0; j < kColumns; j += 8) {
                          uint16x8x4_t lanes;
                          RL_UNROLL for (size_t i = 0; i < kGroup; ++i) lanes.val[i] = vld1q_u16(&rows[i][j]);
                          vst4q_u16(fours + kGroup * j, lanes);
                        }
                      });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
