// SPDX-License-Identifier: BSD-3-Clause
// Transforms of Winograd's minimal filtering F(2 x 2, 3 x 3) in float32 (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2016): a tile of 2 x 2 outputs of a 3 x 3 convolution takes 16 products of
// transformed inputs and weights instead of 36. Lanes are the channels of one tile or the tiles of one
// channel.
//
//   output = A^T ((G g G^T) * sum over channels (B^T d B)) A     * element by element, for each of 16 parts
//
// The sums over input channels are 16 matrix products, one for each part, which gemm.h computes. A lane takes
// 32 additions for the inputs of a tile and 24 for its outputs.
//
// The transforms only add and subtract inputs and products, and halve weights: rounding errors are as in a
// direct convolution. Larger tiles have factors from 1/24 to 8 and lose a digit or two
// (docs/decisions/0021-winograd-in-small-tiles.md). An infinite or NaN input spreads to all outputs of its
// tile; the output transform reports that.
//
// Memory: accesses only the described elements; alignment of float; results overlap no operand.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr size_t kWinogradOut = 2;                            // outputs of a tile along one axis
inline constexpr size_t kWinogradIn = 4;                             // inputs that they depend on
inline constexpr size_t kWinogradParts = kWinogradIn * kWinogradIn;  // products of a tile

// Input transform: out[part * out_stride + i], i < lanes, for each part of the transformed tile. Tiles
// overlap by two rows and columns. A null pointer is an input in the padding.
struct WinogradInput {
  size_t lanes = 0;
  const float* const* in = nullptr;  // kWinogradParts pointers, row by row; null: zeros
  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};

// Output transform: out[k][i] = clamp(output k + bias[i] + residual[k][i], low, high), i < lanes.
// winograd_output() returns false if an output, stored or not, is infinite or NaN before the bias is added:
// the caller then computes the whole convolution directly. Outputs beyond the image's edge have null
// pointers. NaN passes through the clamp.
struct WinogradOutput {
  size_t lanes = 0;
  const float* in = nullptr;
  ptrdiff_t in_stride = 0;                 // from part to part
  const float* bias = nullptr;             // null: zeros
  float* const* out = nullptr;             // kWinogradOut^2 pointers, row by row; null: not stored
  const float* const* residual = nullptr;  // as many pointers; null: none
  float low = -__builtin_inff();
  float high = __builtin_inff();
};

RL_UKERNEL(void, winograd_input, (const WinogradInput& tile), (tile))
RL_UKERNEL(bool, winograd_output, (const WinogradOutput& tile), (tile))

// Weight transform G g G^T of one 3 x 3 kernel for each lane: element (r, c) of lane i is in[i * lane_stride
// + r * row_stride + c * column_stride], and its part of the result out[part * out_stride + i]. Sums in
// double, rounded once, since weights are transformed once, at load.
struct WinogradWeights {
  size_t lanes = 0;
  const float* in = nullptr;
  ptrdiff_t lane_stride = 0;
  ptrdiff_t row_stride = 0;
  ptrdiff_t column_stride = 0;
  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};

RL_UKERNEL(void, winograd_weights, (const WinogradWeights& weights), (weights))

}  // namespace rushlight::ukernel
