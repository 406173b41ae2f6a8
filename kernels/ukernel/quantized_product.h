// SPDX-License-Identifier: BSD-3-Clause
// The product of two quantized numbers, each with a scale of its own:
//
//   out = quantized((a - zero_points[0]) * (b - zero_points[1]))
//
// by column 0 of `to`. Zero points are of the numbers' dtype, of int16 0, so that the product has 17 bits, or
// 31; with rounding "double" it may have 32.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"

namespace rushlight::ukernel {

struct QuantizedProduct {
  int32_t zero_points[2];
  const Requantization& to;

  [[nodiscard]] int32_t operator()(int32_t a, int32_t b) const {
    return requantize(to, (a - zero_points[0]) * (b - zero_points[1]), 0);
  }
};

}  // namespace rushlight::ukernel
