// SPDX-License-Identifier: BSD-3-Clause
// Transforms of Winograd's minimal filtering, F(2 x 2, 3 x 3), in float32: 2 x 2 outputs of a 3 x 3
// convolution come from 4 x 4 inputs by 16 products of transformed inputs and weights instead of 36. Lanes
// are channels of one tile, or tiles of one channel.
//
// Inputs and products are only added and subtracted, and weights halved: rounding errors are those of a
// direct convolution, where larger tiles, whose factors are up to 8 and 1/24, lose a digit or two
// (docs/decisions/0021-winograd-in-small-tiles.md). An infinite input, or NaN, spreads to all outputs of its
// tile, which the output transform reports.
//
// Nothing is read or written outside of what is described; no state, no memory, no alignment beyond that of
// float.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr size_t kWinogradOut = 2;                            // outputs of a tile in a row
inline constexpr size_t kWinogradIn = 4;                             // and the inputs that they see
inline constexpr size_t kWinogradParts = kWinogradIn * kWinogradIn;  // products

// out[part * out_stride + i], i < lanes, for each part of the transformed tile.
struct WinogradInput {
  size_t lanes = 0;
  const float* const* in = nullptr;  // kWinogradParts, row by row; null: zeros
  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};

// out[k][i] = clamp(the k-th output + bias[i] + residual[k][i], low, high), i < lanes. False when one of the
// k-th outputs, wanted or not, is infinite or NaN.
struct WinogradOutput {
  size_t lanes = 0;
  const float* in = nullptr;
  ptrdiff_t in_stride = 0;                 // from part to part
  const float* bias = nullptr;             // null: zeros
  float* const* out = nullptr;             // kWinogradOut x kWinogradOut, row by row; null: not wanted
  const float* const* residual = nullptr;  // as many; null: none
  float low = -__builtin_inff();
  float high = __builtin_inff();
};

RL_UKERNEL(void, winograd_input, (const WinogradInput& tile), (tile))
RL_UKERNEL(bool, winograd_output, (const WinogradOutput& tile), (tile))

// The transformed 3 x 3 weights: out[part * out_stride] for each part.
inline void winograd_weights(const float* weights, ptrdiff_t row_stride, ptrdiff_t column_stride, float* out,
                             ptrdiff_t out_stride) {
  constexpr double kFactors[kWinogradIn][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  double rows[kWinogradIn][3];
  for (size_t i = 0; i < kWinogradIn; ++i) {
    for (ptrdiff_t j = 0; j < 3; ++j) {
      rows[i][j] = 0;
      for (ptrdiff_t k = 0; k < 3; ++k) {
        rows[i][j] += kFactors[i][k] * weights[k * row_stride + j * column_stride];
      }
    }
  }
  for (size_t i = 0; i < kWinogradIn; ++i) {
    for (size_t j = 0; j < kWinogradIn; ++j, out += out_stride) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += kFactors[j][k] * rows[i][k];
      *out = static_cast<float>(sum);
    }
  }
}

}  // namespace rushlight::ukernel
