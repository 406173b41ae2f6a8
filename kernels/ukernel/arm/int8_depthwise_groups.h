// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of int8 on Arm cores without wide vectors: a group of channels at a time, whose
// weights are widened once for all pixels. The sums of several pixels are kept, so that a channel's scale is
// loaded once for them. Before it includes this, a source defines:
//
//   constexpr size_t kGroup                     channels of a group
//   constexpr size_t kTapBytes                  bytes of a tap's widened weights
//   struct Taps                                 arguments of add_taps(), with sums and sums_end
//   Taps taps_of(weights, taps, bias, in, c)    for the channels from c on
//   void widen(weights, stride, taps, to)       widens the weights of a group
//   void add_taps(Taps&)                        computes the sums of pixels
//
// add_taps() writes the sums of (sums_end - sums) pixels for each channel of the group, as
// sums[kGroup][kPixels], and advances the pointers to inputs past these pixels: the next call continues
// there. It requires at least one tap. Loads of inputs and weights read kGroup channels, never more.
//
// Memory: 512 bytes of widened weights and at most 256 of sums on the stack. Channels left over after the
// groups take the slower path of filter_channel().
#pragma once

#include "kernels/ukernel/arm/requantize_scalar.h"
#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPixels = 16;                 // pixels whose sums are kept: at most 256 bytes of stack
constexpr size_t kMostTaps = 512 / kTapBytes;  // taps that are widened: 512 bytes of stack

// Filters one channel: the last ones, and all if there are no taps or more than kMostTaps. Two loads for each
// product.
[[gnu::noinline]] inline void filter_channel(const Int8Depthwise& strip, size_t c) {
  const int8_t* const* in = strip.in;
  int8_t* out = strip.out + c;
  const int32_t bias = strip.bias == nullptr ? 0 : strip.bias[c];
  int32_t sums[kPixels];
  for (size_t p = 0; p < strip.pixels; p += kPixels) {
    const size_t pixels = strip.pixels - p < kPixels ? strip.pixels - p : kPixels;
    for (size_t i = 0; i < pixels; ++i) {
      int32_t sum = bias;
      const int8_t* weight = strip.weights + c;
      for (size_t t = strip.taps; t > 0; --t, weight += strip.weight_stride) sum += (*in++)[c] * *weight;
      sums[i] = sum;
    }
    quantize_columns(strip.to, c, 1, sums, kPixels, pixels, out, strip.out_stride);
    out += static_cast<ptrdiff_t>(pixels) * strip.out_stride;
  }
}

}  // namespace

// Channels are the outer loop, pixels the inner one: weights are widened once, and a group's inputs are read
// once for each pixel and tap.
void depthwise_int8(const Int8Depthwise& strip) {
  size_t c = 0;
  if (strip.taps > 0 && strip.taps <= kMostTaps) {
    alignas(8) int8_t weights[kMostTaps * kTapBytes];
    int32_t sums[kGroup][kPixels];
    int32_t bias[kGroup] = {};
    // Groups read whole words of kGroup weights and inputs, so that only complete groups are computed here.
    for (; strip.channels - c >= kGroup; c += kGroup) {
      widen(strip.weights + c, strip.weight_stride, strip.taps, weights);
      if (strip.bias != nullptr) {
        for (size_t i = 0; i < kGroup; ++i) bias[i] = strip.bias[c + i];
      }
      Taps work = taps_of(weights, strip.taps, bias, strip.in, c);
      int8_t* out = strip.out + c;
      for (size_t p = 0; p < strip.pixels; p += kPixels) {
        const size_t pixels = strip.pixels - p < kPixels ? strip.pixels - p : kPixels;
        work.sums = sums[0];
        work.sums_end = sums[0] + pixels;
        add_taps(work);
        quantize_columns(strip.to, c, kGroup, sums[0], kPixels, pixels, out, strip.out_stride);
        out += static_cast<ptrdiff_t>(pixels) * strip.out_stride;
      }
    }
  }
  for (; c < strip.channels; ++c) filter_channel(strip, c);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
