// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/int16_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void depthwise_int16(const Int16Depthwise& strip) {
  constexpr size_t kLanes = 16;  // channels that are summed together
  const int16_t* const* in = strip.in;
  int16_t* out = strip.out;
  for (size_t p = 0; p < strip.pixels; ++p, in += strip.taps, out += strip.out_stride) {
    for (size_t c = 0; c < strip.channels; c += kLanes) {
      const size_t lanes = strip.channels - c < kLanes ? strip.channels - c : kLanes;
      int32_t sums[kLanes] = {};
      const int8_t* weights = strip.weights + c;
      for (size_t t = 0; t < strip.taps; ++t, weights += strip.weight_stride) {
        const int16_t* from = in[t] + c;
        if (lanes == kLanes) {
          for (size_t i = 0; i < kLanes; ++i) sums[i] += from[i] * weights[i];
        } else {
          for (size_t i = 0; i < lanes; ++i) sums[i] += from[i] * weights[i];
        }
      }
      for (size_t i = 0; i < lanes; ++i) {
        const int64_t bias = strip.bias == nullptr ? 0 : strip.bias[c + i];
        out[c + i] = static_cast<int16_t>(requantize_wide(strip.to, bias + sums[i], c + i));
      }
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
