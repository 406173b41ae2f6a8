// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int8, channels-last: each channel has its own filter of a few taps.
//
//   out[p][c] = quantized(bias[c] + sum over t < taps of in[p * taps + t][c] * weights[t][c])
//
// for p < pixels, c < channels. With a nonzero pixel_stride all pixels share the pointers of the first one:
//
//   in[t][p * pixel_stride + c] replaces in[p * taps + t][c]
//
// Variants without kInt8DepthwiseStrides require pixel_stride = 0. A tap outside of the image points to
// elements equal to the input's zero point. Sums have 32 bits; the caller ensures that they fit. quantized()
// is requantize() of requantize.h.
//
// Memory: accesses only the described elements; alignment of the element types; `out` overlaps no operand.
// All variants give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// True if pixels may share pointers.
inline constexpr bool kInt8DepthwiseStrides = native::kInt8DepthwiseStrides;

struct Int8Depthwise {
  size_t pixels = 0;
  size_t channels = 0;
  size_t taps = 0;  // any number

  const int8_t* const* in = nullptr;  // pixels x taps pointers, or taps if pixel_stride is not 0
  ptrdiff_t pixel_stride = 0;         // in elements from pixel to pixel; 0: each has its pointers
  const int8_t* weights = nullptr;
  ptrdiff_t weight_stride = 0;  // in elements from tap to tap

  const int32_t* bias = nullptr;  // for each channel; null: zeros
  Requantization to;              // column = channel

  int8_t* out = nullptr;
  ptrdiff_t out_stride = 0;  // in elements from pixel to pixel
};
RL_UKERNEL_INTEGER(void, depthwise_int8, (const Int8Depthwise& strip), (strip))

}  // namespace rushlight::ukernel
