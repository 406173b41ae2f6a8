// SPDX-License-Identifier: BSD-3-Clause
// Sums kInt16Lanes channels at a time in int32; the compiler vectorizes the loop over channels. Products are
// at most 2^22, so that up to kInt16Products of them fit in 32 bits; the bias joins in 64 bits. Channels left
// over are computed singly.
#include "kernels/ukernel/int16_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// kLanes channels of a pixel, from `c` on.
template <size_t kLanes>
void filter(const Int16Depthwise& strip, const int16_t* const* in, size_t c, int16_t* out) {
  int32_t sums[kLanes] = {};
  const int8_t* weights = strip.weights + c;
  for (size_t t = 0; t < strip.taps; ++t, weights += strip.weight_stride) {
    const int16_t* from = in[t] + c;
#pragma GCC unroll 4
    for (size_t i = 0; i < kLanes; ++i) sums[i] += from[i] * weights[i];
  }
  int64_t all[kLanes];
  for (size_t i = 0; i < kLanes; ++i) all[i] = sums[i] + (strip.bias == nullptr ? 0 : strip.bias[c + i]);
  requantize_wide_row(strip.to, c, kLanes, all, out + c);
}

}  // namespace

void depthwise_int16(const Int16Depthwise& strip) {
  const int16_t* const* in = strip.in;
  int16_t* out = strip.out;
  for (size_t p = 0; p < strip.pixels; ++p, in += strip.taps, out += strip.out_stride) {
    size_t c = 0;
    for (; c + kInt16Lanes <= strip.channels; c += kInt16Lanes) filter<kInt16Lanes>(strip, in, c, out);
    for (; c < strip.channels; ++c) filter<1>(strip, in, c, out);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
