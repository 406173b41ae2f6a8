// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int16 with int8 weights, channels last: each channel is filtered alone, by a few
// taps.
//
//   out[p][c] = quantized(bias[c] + sum over t < taps of in[p * taps + t][c] * weights[t][c])
//
// for p < pixels, c < channels. A tap outside of the image points to zeros. Sums without the bias have 32
// bits, with it 48, see requantize_wide(); the caller knows that none has more.
//
// Promises: nothing is read or written but what is described, nothing needs more alignment than its type. All
// variants make the same bits. `out` overlaps nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct Int16Depthwise {
  size_t pixels = 0;
  size_t channels = 0;
  size_t taps = 0;  // at most kInt16Products, see int16_product.h

  const int16_t* const* in = nullptr;  // pixels x taps
  const int8_t* weights = nullptr;
  ptrdiff_t weight_stride = 0;  // from tap to tap

  const int64_t* bias = nullptr;  // of each channel; null: zeros
  Requantization to;              // by channels

  int16_t* out = nullptr;
  ptrdiff_t out_stride = 0;  // from pixel to pixel
};
RL_UKERNEL_INTEGER(void, depthwise_int16, (const Int16Depthwise& strip), (strip))

}  // namespace rushlight::ukernel
