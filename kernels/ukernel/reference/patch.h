// SPDX-License-Identifier: BSD-3-Clause
// Reference of the convolutions of kernels/ukernel/patch.h with sums in double, for tests, which allow 1e-5.
// Copies and depthwise sums of the family have their expectations in the test.
#pragma once

#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::reference {

// By the definition: every tap of every column.
inline void add_shifted(const ShiftedSums& s) {
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(s.rows); ++i) {
    for (ptrdiff_t j = 0; j < static_cast<ptrdiff_t>(s.columns); ++j) {
      float* out = s.out + i * s.out_stride + j;
      double sum = s.initial == nullptr ? *out : s.initial[i];
      const float* weight = s.weight + i * s.weight_stride;
      for (size_t t = 0; t < s.count; ++t) {
        const float* in = s.in + s.taps[t].in / static_cast<int32_t>(sizeof(float)) + j;
        for (int32_t k = 0; k <= s.taps[t].more; ++k) sum += double{*weight++} * in[k];
      }
      *out = static_cast<float>(sum);
    }
  }
}

inline ShiftedTaps group_of(int32_t offset) { return {offset, 0}; }
inline ShiftedTaps group_of(ShiftedTaps taps) { return taps; }

// By the definition: every tap of every output of every tile.
inline void add_planes(const PlaneSums& s) {
  constexpr auto kBytes = static_cast<int32_t>(sizeof(float));
  for (ptrdiff_t p = 0; p < static_cast<ptrdiff_t>(s.planes); ++p) {
    for (size_t i = 0; i < s.counts[0] + s.counts[1] + s.counts[2]; ++i) {
      const size_t kind = i < s.counts[0] ? 0 : i < s.counts[0] + s.counts[1] ? 1 : 2;
      const size_t columns = kind == 0 ? kTileColumns : kind == 1 ? kTileColumns / 2 : 1;
      for (size_t j = 0; j < columns; ++j) {
        const size_t listed = kTilePositions > 1 ? j : 0;
        const auto after = static_cast<ptrdiff_t>(j - listed);
        const float* in = s.in + p * s.in_plane + s.tiles[i].in[listed] / kBytes + after * s.in_step;
        const float* weight = s.weight + p * s.weight_plane;
        double sum = s.initial == nullptr ? 0 : s.initial[p * s.initial_plane];
        for (size_t t = 0; t < s.count; ++t) {
          const ShiftedTaps taps = group_of(s.taps[t]);
          for (int32_t k = 0; k <= taps.more; ++k) sum += double{*weight++} * in[taps.in / kBytes + k];
        }
        s.out[p * s.out_plane + s.tiles[i].out[listed] / kBytes + after * s.out_step] =
            static_cast<float>(sum);
      }
    }
  }
}

// The zero padding as a test of each position.
inline void convolve_plane_3x3(const PlaneConvolution& c) {
  const auto rows = static_cast<ptrdiff_t>(c.rows);
  const auto columns = static_cast<ptrdiff_t>(c.columns);
  for (ptrdiff_t y = 0; y < rows; ++y) {
    for (ptrdiff_t x = 0; x < columns; ++x) {
      double sum = c.initial;
      for (ptrdiff_t i = 0; i < 3; ++i) {
        for (ptrdiff_t j = 0; j < 3; ++j) {
          // Kernel element (1, 1) lies on the output's pixel.
          const ptrdiff_t row = y + i - 1, column = x + j - 1;
          if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
          sum += double{c.kernel[i * c.kernel_row_stride + j * c.kernel_column_stride]} *
                 c.in[row * c.in_stride + column];
        }
      }
      c.out[y * c.out_stride + x] = static_cast<float>(sum);
    }
  }
}

}  // namespace rushlight::ukernel::reference
