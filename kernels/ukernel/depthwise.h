// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution in float32: each channel has its own filter of a few taps. And convolution in groups
// of a few channels, each of which sees all channels of its group.
//
// depthwise_pixels has channels in the vector lanes (channels-last), depthwise_plane has pixels
// (channels-first).
//
// Contract of both: accesses only the described elements (see kDepthwiseSlack for the plane's input);
// alignment of float; NaN and infinities propagate, through the clamp too. Each sum starts with the bias and
// adds the products in the order of rows and taps, regardless of its position.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Channels whose weights are stored together: the lanes of the widest vector. The last block is padded.
inline constexpr size_t kDepthwiseBlock = 16;

// Adjacent pixels that use the same rows and taps:
//
//   out[p][c] = clamp(bias[c] + sum over r < rows, t < taps and i < group of
//                     in[r][p * in_stride + t * tap_stride + c - c % group + i] * weight(r, t, i, c)
//                     + residual[p][c], low, high)                     for p < pixels, c < channels
//   weight(r, t, i, c) = weights[r][(c / B) * weight_block + (t * group + i) * B + c % B], B =
//   kDepthwiseBlock
//
// The caller omits rows and taps that are outside of the image. Strides are in floats.
struct DepthwisePixels {
  size_t pixels = 0;
  size_t channels = 0;  // a multiple of `group`
  size_t group = 1;     // a power of 2, at most kDepthwiseBlock
  size_t rows = 0;      // may be 0
  size_t taps = 0;

  const float* const* in = nullptr;  // for each row: the input of pixel 0 at tap 0
  ptrdiff_t in_stride = 0;           // from pixel to pixel
  ptrdiff_t tap_stride = 0;

  const float* const* weights = nullptr;  // for each row: tap 0
  ptrdiff_t weight_block = 0;             // from block to block

  const float* bias = nullptr;  // null: zeros
  bool accumulate = false;      // sums start from `out` instead of the bias

  float* out = nullptr;
  ptrdiff_t out_stride = 0;  // from pixel to pixel

  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;

  float low = -__builtin_inff();
  float high = __builtin_inff();
};

// Rows of pixels of one channel:
//
//   out[y][x] = clamp(bias + sum over t < taps of in[t][y * in_stride + x] * weights[t] + residual[y][x],
//                     low, high)                                       for y < rows, x < width
//
// Loads whole vectors: up to kDepthwiseSlack floats past the end of each row of `in` are read but not used.
struct DepthwisePlane {
  size_t rows = 0;
  size_t width = 0;
  size_t taps = 0;  // may be 0

  const float* const* in = nullptr;  // for each tap
  ptrdiff_t in_stride = 0;           // floats from row to row
  const float* weights = nullptr;

  float bias = 0;
  bool accumulate = false;  // sums start from `out` instead of the bias

  float* out = nullptr;
  ptrdiff_t out_stride = 0;

  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;

  float low = -__builtin_inff();
  float high = __builtin_inff();
};
// One less than the lanes of the widest vector, 16 floats: callers keep as many readable floats after the
// input.
inline constexpr size_t kDepthwiseSlack = 15;

RL_UKERNEL(void, depthwise_pixels, (const DepthwisePixels& strip), (strip))
RL_UKERNEL(void, depthwise_plane, (const DepthwisePlane& plane), (plane))

}  // namespace rushlight::ukernel
