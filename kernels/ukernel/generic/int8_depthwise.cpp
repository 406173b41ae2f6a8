// SPDX-License-Identifier: BSD-3-Clause
// Sums 16 channels at a time; the compiler vectorizes the loop over channels. Weights are widened again for
// each pixel: this is the fallback where no source for an instruction set is compiled.
#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void depthwise_int8(const Int8Depthwise& strip) {
  constexpr size_t kLanes = 16;  // channels that are summed together
  const int8_t* const* in = strip.in;
  const size_t step = strip.pixel_stride == 0 ? strip.taps : 0;  // pointers from pixel to pixel
  ptrdiff_t offset = 0;
  int8_t* out = strip.out;
  for (size_t p = 0; p < strip.pixels;
       ++p, in += step, offset += strip.pixel_stride, out += strip.out_stride) {
    for (size_t c = 0; c < strip.channels; c += kLanes) {
      const size_t lanes = strip.channels - c < kLanes ? strip.channels - c : kLanes;
      int32_t sums[kLanes];
      for (size_t i = 0; i < lanes; ++i) sums[i] = strip.bias == nullptr ? 0 : strip.bias[c + i];
      const int8_t* weights = strip.weights + c;
      for (size_t t = 0; t < strip.taps; ++t, weights += strip.weight_stride) {
        const int8_t* from = in[t] + offset + static_cast<ptrdiff_t>(c);
        for (size_t i = 0; i < lanes; ++i) sums[i] += from[i] * weights[i];
      }
      for (size_t i = 0; i < lanes; ++i)
        out[c + i] = static_cast<int8_t>(requantize(strip.to, sums[i], c + i));
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
