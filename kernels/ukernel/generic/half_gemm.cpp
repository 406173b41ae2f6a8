// SPDX-License-Identifier: BSD-3-Clause
// A tile has a few rows, or one, and up to four vectors of features. Its sums stay in registers, and each
// vector of weights is converted once for all rows. Even and odd elements of the depth have separate sums,
// which hides the latency of the multiply-adds where a tile has few sums.
#include "kernels/ukernel/half_gemm.h"

#include "kernels/ukernel/generic/half.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kVectors = kBlockFeatures / kLanes < 4 ? kBlockFeatures / kLanes : 4;
constexpr size_t kWidth = kVectors * kLanes;  // features of a tile
constexpr size_t kRows = kVectors == 1 ? 8 : kLanes > 1 ? 2 : 1;

// Adds the products with one element of each row.
template <size_t kCount>
RL_INLINE void add_line(F32 (&sums)[kCount][kVectors], const float* const* left, size_t k,
                        const uint16_t* line) {
  RL_UNROLL
  for (size_t v = 0; v < kVectors; ++v) {
    const F32 weights = load_halves(line + v * kLanes);
    RL_UNROLL
    for (size_t i = 0; i < kCount; ++i) sums[i][v] = multiply_add(splat(left[i][k]), weights, sums[i][v]);
  }
}

// Multiplies kCount rows from `first` on with the tile's features from `feature` on.
template <size_t kCount>
void multiply_tile(const HalfGemm& p, size_t first, size_t feature) {
  const float* left[kCount];
  RL_UNROLL
  for (size_t i = 0; i < kCount; ++i) left[i] = p.left + static_cast<ptrdiff_t>(first + i) * p.left_stride;
  F32 even[kCount][kVectors] = {}, odd[kCount][kVectors] = {};
  const uint16_t* line = p.panel + feature;
  size_t k = 0;
  for (; k + 2 <= p.depth; k += 2, line += 2 * kBlockFeatures) {
    add_line<kCount>(even, left, k, line);
    add_line<kCount>(odd, left, k + 1, line + kBlockFeatures);
  }
  if (k < p.depth) add_line<kCount>(even, left, k, line);
  for (size_t i = 0; i < kCount; ++i) {
    float sums[kWidth];
    RL_UNROLL
    for (size_t v = 0; v < kVectors; ++v) store(sums + v * kLanes, even[i][v] + odd[i][v]);
    const auto row = static_cast<ptrdiff_t>(first + i);
    float* out = p.out + row * p.out_stride;
    for (size_t j = feature; j < feature + kWidth && j < p.features; ++j) {
      float sum = sums[j - feature];
      if (p.bias != nullptr) sum += p.bias[j];
      if (p.residual != nullptr) sum += p.residual[row * p.residual_stride + static_cast<ptrdiff_t>(j)];
      out[j] = sum;
    }
  }
}

// All features of the panel in tiles of kWidth.
template <size_t kCount>
void multiply_rows(const HalfGemm& p, size_t first) {
  for (size_t feature = 0; feature < p.features; feature += kWidth) multiply_tile<kCount>(p, first, feature);
}

}  // namespace

void multiply_halves(const HalfGemm& p) {
  size_t i = 0;
  for (; i + kRows <= p.rows; i += kRows) multiply_rows<kRows>(p, i);
  if constexpr (kRows > 1) {
    for (; i < p.rows; ++i) multiply_rows<1>(p, i);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
