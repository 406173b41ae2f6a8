// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution in float32: each channel is filtered alone, by a few taps.
//
// depthwise_pixels takes channels along the vectors (channels last), depthwise_plane pixels (channels first).
//
// Promises of both: nothing is read or written outside of what is described; NaN and infinities propagate,
// also through the clamp; an element is the bias and then the products in the order of rows and taps,
// wherever it lies; no state, no memory, no alignment beyond that of float.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Pixels beside each other, which see the same rows and taps:
//
//   out[p][c] = clamp(bias[c] + sum over r < rows and t < taps of
//                     in[r][p * in_stride + t * tap_stride + c] * weights[r][t * weight_stride + c]
//                     + residual[p][c], low, high)                     for p < pixels, c < channels
//
// Whoever calls leaves out rows and taps that lie outside of the image.
struct DepthwisePixels {
  size_t pixels = 0;
  size_t channels = 0;
  size_t rows = 0;  // may be 0
  size_t taps = 0;

  const float* const* in = nullptr;  // what the first pixel sees through the first tap, for each row
  ptrdiff_t in_stride = 0;           // floats from pixel to pixel
  ptrdiff_t tap_stride = 0;

  const float* const* weights = nullptr;  // for each row
  ptrdiff_t weight_stride = 0;            // floats from tap to tap

  const float* bias = nullptr;  // null: zeros
  bool accumulate = false;      // out holds what the sum begins with, instead of the bias

  float* out = nullptr;
  ptrdiff_t out_stride = 0;  // floats from pixel to pixel

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
// Reads whole vectors: up to kDepthwiseSlack floats behind the last of each row of `in` are read and not
// used.
struct DepthwisePlane {
  size_t rows = 0;
  size_t width = 0;
  size_t taps = 0;  // may be 0

  const float* const* in = nullptr;  // for each tap
  ptrdiff_t in_stride = 0;           // floats from row to row
  const float* weights = nullptr;

  float bias = 0;
  bool accumulate = false;  // out holds what the sum begins with, instead of the bias

  float* out = nullptr;
  ptrdiff_t out_stride = 0;

  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;

  float low = -__builtin_inff();
  float high = __builtin_inff();
};
inline constexpr size_t kDepthwiseSlack = 15;

RL_UKERNEL(void, depthwise_pixels, (const DepthwisePixels& strip), (strip))
RL_UKERNEL(void, depthwise_plane, (const DepthwisePlane& plane), (plane))

}  // namespace rushlight::ukernel
