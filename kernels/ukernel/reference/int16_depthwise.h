// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/int16_depthwise.h, bit-exact, for tests. Sums in 64 bits throughout: a
// variant's 32-bit sums of the taps must give the same, since 511 products cannot overflow them.
#pragma once

#include "kernels/ukernel/int16_depthwise.h"

namespace rushlight::ukernel::reference {

// Requantizes by requantize_wide(), which is itself the definition of the rounding.
inline void depthwise_int16(const Int16Depthwise& strip) {
  for (size_t p = 0; p < strip.pixels; ++p) {
    for (size_t c = 0; c < strip.channels; ++c) {
      int64_t sum = strip.bias == nullptr ? 0 : strip.bias[c];
      for (size_t t = 0; t < strip.taps; ++t) {
        sum += strip.in[p * strip.taps + t][c] *
               strip.weights[static_cast<ptrdiff_t>(t) * strip.weight_stride + static_cast<ptrdiff_t>(c)];
      }
      strip.out[static_cast<ptrdiff_t>(p) * strip.out_stride + static_cast<ptrdiff_t>(c)] =
          static_cast<int16_t>(requantize_wide(strip.to, sum, c));
    }
  }
}

}  // namespace rushlight::ukernel::reference
