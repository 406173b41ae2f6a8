// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int8, channels last: each channel is filtered alone, by a few taps.
//
//   out[p][c] = quantized(bias[c] + sum over t < taps of in[p * taps + t][c] * weights[t][c])
//
// for p < pixels, c < channels. With pixel_stride pixels share the pointers of the first one:
//
//   in[t][p * pixel_stride + c] in place of in[p * taps + t][c]
//
// Variants without kInt8DepthwiseStrides take pixel_stride = 0 alone. A tap outside of the image points to
// numbers that are the input's zero point. Sums have 32 bits; the caller knows that none overflows. See
// requantize.h for what quantized() is.
//
// Promises: nothing is read or written but what is described, nothing needs more alignment than its type. All
// variants make the same bits. `out` overlaps nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Whether pixels may share pointers.
inline constexpr bool kInt8DepthwiseStrides = native::kInt8DepthwiseStrides;

struct Int8Depthwise {
  size_t pixels = 0;
  size_t channels = 0;
  size_t taps = 0;  // any number

  const int8_t* const* in = nullptr;  // pixels x taps
  ptrdiff_t pixel_stride = 0;         // not 0: as far apart are the pixels' numbers; `in` has taps
  const int8_t* weights = nullptr;
  ptrdiff_t weight_stride = 0;  // from tap to tap

  const int32_t* bias = nullptr;  // of each channel; null: zeros
  Requantization to;              // by channels

  int8_t* out = nullptr;
  ptrdiff_t out_stride = 0;  // from pixel to pixel
};
RL_UKERNEL_INTEGER(void, depthwise_int8, (const Int8Depthwise& strip), (strip))

}  // namespace rushlight::ukernel
