// SPDX-License-Identifier: BSD-3-Clause
// The product of two quantized values with different scales:
//
//   out = quantized((a - zero_points[0]) * (b - zero_points[1]))
//
// by column 0 of `to`. Zero points are values of the operands' dtype, and 0 for int16. The product has 17
// bits for int8 and 31 bits for int16; rounding "double" also accepts 32.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"

namespace rushlight::ukernel {

struct QuantizedProduct {
  int32_t zero_points[2];
  const Requantization& to;

  // Precondition: a and b are values of the operands' dtype. The product of the differences then fits in 32
  // bits.
  [[nodiscard]] int32_t operator()(int32_t a, int32_t b) const {
    return requantize(to, (a - zero_points[0]) * (b - zero_points[1]), 0);
  }
};

}  // namespace rushlight::ukernel
