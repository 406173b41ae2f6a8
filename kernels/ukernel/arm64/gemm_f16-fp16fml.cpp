// SPDX-License-Identifier: BSD-3-Clause
// FMLAL and FMLAL2: the products of the lower and the upper four of eight float16 with a lane are added to
// float32. As many multiply-adds as for float32, with half of the loads and no conversions.
#include <arm_neon.h>

#include "kernels/ukernel/gemm_f16.h"
#include "kernels/ukernel/generic/narrow_gemm.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;  // more rows spill registers in GCC 12

template <size_t kR, size_t kV>
struct Products {
  // A step of four elements multiplies by the lanes of one register for each row of A.
  RL_INLINE static void add(Sums<kR, kV>& sums, const uint16_t* const* a, const uint16_t* b, size_t depth) {
    size_t p = 0;
    for (; p + 4 <= depth; p += 4, b += 4 * kColumns) {
      float16x4_t left[kR];
      RL_UNROLL for (size_t r = 0; r < kR; ++r) left[r] = vreinterpret_f16_u16(vld1_u16(a[r] + p));
      add_row<0>(sums, left, b);
      add_row<1>(sums, left, b + kColumns);
      add_row<2>(sums, left, b + 2 * kColumns);
      add_row<3>(sums, left, b + 3 * kColumns);
    }
    for (; p < depth; ++p, b += kColumns) {
      float16x4_t left[kR];
      RL_UNROLL for (size_t r = 0; r < kR; ++r) left[r] = vreinterpret_f16_u16(vld1_dup_u16(a[r] + p));
      add_row<0>(sums, left, b);
    }
  }

 private:
  template <int kLane>
  RL_INLINE static void add_row(Sums<kR, kV>& sums, const float16x4_t (&left)[kR], const uint16_t* b) {
    RL_UNROLL for (size_t v = 0; v < kV; v += 2) {
      const float16x8_t right = vreinterpretq_f16_u16(vld1q_u16(b + v * kLanes));
      RL_UNROLL for (size_t r = 0; r < kR; ++r) {
        sums[r][v] = vfmlalq_lane_low_f16(sums[r][v], right, left[r], kLane);
        sums[r][v + 1] = vfmlalq_lane_high_f16(sums[r][v + 1], right, left[r], kLane);
      }
    }
  }
};

}  // namespace

bool gemm_has_f16() { return true; }
size_t gemm_rows_f16() { return kRows; }
size_t gemm_columns_f16() { return kColumns; }
void gemm_tile_f16(const GemmTile16& tile) { multiply_tiles<kRows, 2>(tile); }
void gemm_pack_f16(uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                   size_t depth, size_t columns) {
  pack_groups<1>(panel, b, row_stride, column_stride, depth, columns,
                 [](uint16_t* row, const GroupRows<1>& rows) { std::memcpy(row, rows, sizeof(rows)); });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
