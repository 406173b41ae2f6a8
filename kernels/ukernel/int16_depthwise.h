// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int16 with int8 weights, channels-last: each channel has its own filter of a few
// taps.
//
//   out[p][c] = quantized(bias[c] + sum over t < taps of in[p * taps + t][c] * weights[t][c])
//
// for p < pixels, c < channels. A tap outside of the image points to zeros. Sums have 32 bits without and 48
// bits with the bias (see requantize_wide()); the caller ensures that they fit.
//
// Memory: accesses only the described elements; alignment of the element types; `out` overlaps no operand.
// All variants give the same bits.
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

  const int16_t* const* in = nullptr;  // pixels x taps pointers
  const int8_t* weights = nullptr;
  ptrdiff_t weight_stride = 0;  // in elements from tap to tap

  const int64_t* bias = nullptr;  // for each channel; null: zeros
  Requantization to;              // column = channel

  int16_t* out = nullptr;
  ptrdiff_t out_stride = 0;  // in elements from pixel to pixel
};
RL_UKERNEL_INTEGER(void, depthwise_int16, (const Int16Depthwise& strip), (strip))

}  // namespace rushlight::ukernel
