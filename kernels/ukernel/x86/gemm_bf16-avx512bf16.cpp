// SPDX-License-Identifier: BSD-3-Clause
// Pairs of bfloat16 by VDPBF16PS: a lane of 32 bits holds a pair, the first element in the low half.
#include <immintrin.h>

#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/generic/narrow_gemm.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = kGemmRows;
constexpr size_t kGroup = 2;

template <size_t kR, size_t kV>
struct Products {
  // A step reads a pair of each row of A. An odd depth ends with a pair whose second element of A does not
  // exist.
  RL_INLINE static void add(Sums<kR, kV>& sums, const uint16_t* const* a, const uint16_t* b, size_t depth) {
    size_t p = 0;
    for (; p + kGroup <= depth; p += kGroup, b += kGroup * kColumns) {
      add_group(sums, b, [&](size_t r) {
        int32_t pair;
        std::memcpy(&pair, a[r] + p, sizeof(pair));
        return pair;
      });
    }
    if (p < depth) add_group(sums, b, [&](size_t r) { return int32_t{a[r][p]}; });
  }

 private:
  template <class Pair>
  RL_INLINE static void add_group(Sums<kR, kV>& sums, const uint16_t* b, Pair pair_of) {
    __m512bh row[kV];
    RL_UNROLL for (size_t v = 0; v < kV; ++v) std::memcpy(&row[v], b + kGroup * v * kLanes, sizeof(row[v]));
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      const I32 pairs = splat(pair_of(r));
      __m512bh factor;
      std::memcpy(&factor, &pairs, sizeof(factor));
      RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[r][v] = _mm512_dpbf16_ps(sums[r][v], factor, row[v]);
    }
  }
};

}  // namespace

bool gemm_has_bf16() { return true; }
size_t gemm_rows_bf16() { return kRows; }
size_t gemm_columns_bf16() { return kColumns; }
size_t gemm_group_bf16() { return kGroup; }
void gemm_tile_bf16(const GemmTile16& tile) { multiply_tiles<kRows, 1>(tile); }
void gemm_pack_bf16(uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                    size_t depth, size_t columns) {
  pack_groups<kGroup>(panel, b, row_stride, column_stride, depth, columns,
                      [](uint16_t* pairs, const GroupRows<kGroup>& rows) {
                        for (size_t j = 0; j < kColumns; ++j) {
                          pairs[2 * j] = rows[0][j];
                          pairs[2 * j + 1] = rows[1][j];
                        }
                      });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
