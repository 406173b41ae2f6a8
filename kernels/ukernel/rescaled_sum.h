// SPDX-License-Identifier: BSD-3-Clause
// The sum of two quantized values as TFLite and CMSIS-NN compute it, with three roundings of kind "double":
// one for each operand and one for the sum.
//
//   rescaled(x, i) = requantize_double((x - zero_points[i]) << kRescaledBits, multipliers[i], shifts[i])
//   out = quantized(rescaled(a, 0) + rescaled(b, 1))
//
// by column 0 of `to`. A negative multiplier gives a difference.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"

namespace rushlight::ukernel {

inline constexpr int kRescaledBits = 20;

struct RescaledSum {
  int32_t zero_points[2];
  int32_t multipliers[2];
  int32_t shifts[2];
  const Requantization& to;

  [[nodiscard]] int32_t rescaled(int32_t number, int i) const {
    return requantize_double((number - zero_points[i]) * (int32_t{1} << kRescaledBits), multipliers[i],
                             shifts[i]);
  }
  [[nodiscard]] int32_t operator()(int32_t a, int32_t b) const {
    return requantize(to, rescaled(a, 0) + rescaled(b, 1), 0);
  }
};

}  // namespace rushlight::ukernel
