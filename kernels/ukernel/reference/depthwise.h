// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/depthwise.h with sums in double, for tests. A product of two float32 is exact
// in double, so that the error is that of the variant alone. Tests allow 1e-7 for each tap and the final
// steps, with operands in [-1, 1].
#pragma once

#include "kernels/ukernel/depthwise.h"

namespace rushlight::ukernel::reference {

// NaN passes, as in the contract: both comparisons are false.
inline float clamp(float value, float low, float high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

// Residual and clamp follow the sum; with `accumulate` the bias is not added.
inline void depthwise_pixels(const DepthwisePixels& s) {
  for (size_t p = 0; p < s.pixels; ++p) {
    float* out = s.out + static_cast<ptrdiff_t>(p) * s.out_stride;
    for (size_t c = 0; c < s.channels; ++c) {
      double sum = s.accumulate ? out[c] : s.bias == nullptr ? 0 : s.bias[c];
      for (size_t r = 0; r < s.rows; ++r) {
        for (size_t t = 0; t < s.taps; ++t) {
          const float* in = s.in[r] + static_cast<ptrdiff_t>(p) * s.in_stride +
                            static_cast<ptrdiff_t>(t) * s.tap_stride + c / s.group * s.group;
          const float* weights = s.weights[r] + static_cast<ptrdiff_t>(c / kDepthwiseBlock) * s.weight_block +
                                 c % kDepthwiseBlock;
          // In order of rows, taps and channels, as the variants; in double the order hardly matters.
          for (size_t i = 0; i < s.group; ++i) {
            sum += static_cast<double>(in[i]) * weights[(t * s.group + i) * kDepthwiseBlock];
          }
        }
      }
      if (s.residual != nullptr) {
        sum += s.residual[static_cast<ptrdiff_t>(p) * s.residual_stride + static_cast<ptrdiff_t>(c)];
      }
      out[c] = clamp(static_cast<float>(sum), s.low, s.high);
    }
  }
}

// Reads in[t] only at the `width` elements of a row: no slack, unlike the variants.
inline void depthwise_plane(const DepthwisePlane& plane) {
  for (size_t y = 0; y < plane.rows; ++y) {
    const auto row = static_cast<ptrdiff_t>(y);
    for (size_t x = 0; x < plane.width; ++x) {
      float* out = plane.out + row * plane.out_stride + x;
      double sum = plane.accumulate ? *out : plane.bias;
      for (size_t t = 0; t < plane.taps; ++t) {
        sum += static_cast<double>(plane.in[t][row * plane.in_stride + static_cast<ptrdiff_t>(x)]) *
               plane.weights[t];
      }
      if (plane.residual != nullptr)
        sum += plane.residual[row * plane.residual_stride + static_cast<ptrdiff_t>(x)];
      *out = clamp(static_cast<float>(sum), plane.low, plane.high);
    }
  }
}

}  // namespace rushlight::ukernel::reference
