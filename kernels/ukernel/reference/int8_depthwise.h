// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/int8_depthwise.h, bit-exact, for tests. Integer sums have one value in any
// order, so that variants may pair taps as they like; tests compare all bits.
#pragma once

#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::reference {

// With a pixel_stride, all pixels use the first pixel's pointers.
inline void depthwise_int8(const Int8Depthwise& strip) {
  for (size_t p = 0; p < strip.pixels; ++p) {
    for (size_t c = 0; c < strip.channels; ++c) {
      int32_t sum = strip.bias == nullptr ? 0 : strip.bias[c];
      for (size_t t = 0; t < strip.taps; ++t) {
        const size_t first = strip.pixel_stride == 0 ? p * strip.taps : 0;
        sum +=
            strip.in[first + t][static_cast<ptrdiff_t>(p) * strip.pixel_stride + static_cast<ptrdiff_t>(c)] *
            strip.weights[static_cast<ptrdiff_t>(t) * strip.weight_stride + static_cast<ptrdiff_t>(c)];
      }
      strip.out[static_cast<ptrdiff_t>(p) * strip.out_stride + static_cast<ptrdiff_t>(c)] =
          static_cast<int8_t>(requantize(strip.to, sum, c));
    }
  }
}

}  // namespace rushlight::ukernel::reference
