// SPDX-License-Identifier: BSD-3-Clause
// The sum of two quantized values as TFLite and CMSIS-NN compute it, with three roundings of kind "double":
// one for each operand and one for the sum.
//
//   rescaled(x, i) = requantize_double((x - zero_points[i]) << kRescaledBits, multipliers[i], shifts[i])
//   out = quantized(rescaled(a, 0) + rescaled(b, 1))
//
// by column 0 of `to`. A negative multiplier gives a difference. Three rounded products an element, where
// quantized_sum.h takes two products and one rounding: use this only where results must match those libraries
// to the bit.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"

namespace rushlight::ukernel {

// TFLite's left shift for int8: differences of 9 bits become 29 bits, so that the sum of both fits in 32.
inline constexpr int kRescaledBits = 20;

struct RescaledSum {
  int32_t zero_points[2];
  int32_t multipliers[2];
  int32_t shifts[2];
  const Requantization& to;

  // Precondition: (number - zero_points[i]) << kRescaledBits fits in 32 bits, as it does for int8, and a
  // positive shift does not overflow it.
  [[nodiscard]] int32_t rescaled(int32_t number, int i) const {
    return requantize_double((number - zero_points[i]) * (int32_t{1} << kRescaledBits), multipliers[i],
                             shifts[i]);
  }
  [[nodiscard]] int32_t operator()(int32_t a, int32_t b) const {
    return requantize(to, rescaled(a, 0) + rescaled(b, 1), 0);
  }
};

}  // namespace rushlight::ukernel
