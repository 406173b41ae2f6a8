// SPDX-License-Identifier: BSD-3-Clause
// The sum of two quantized values with different scales, in the form of XNNPACK:
//
//   out = clamp(((a * multipliers[0] + b * multipliers[1] + offset) >> shift) + zero_point, low, high)
//
// in the type `Sum`: int32_t for int8 and uint8, or int64_t for int16. multipliers[i] is about the scale of
// operand i over the output's, times 2^shift; a negative one subtracts. The offset combines both zero points
// and the rounding term 2^(shift - 1), so that halves round up. The caller ensures that the sum fits, in any
// order of the additions, and that shift is at least 0 and less than the width.
#pragma once

#include <cstdint>

namespace rushlight::ukernel {

template <class Sum>
struct QuantizedSumIn {
  int32_t multipliers[2];
  Sum offset;
  int32_t shift;
  int32_t zero_point;
  int32_t low;
  int32_t high;

  // Inlined also into loops that are compiled for size.
  [[nodiscard]] [[gnu::always_inline]] int32_t operator()(int32_t a, int32_t b) const {
    // Two multiplications, two additions and a shift; the operands are values as stored, zero points
    // included.
    const Sum value = ((Sum{a} * multipliers[0] + (offset + Sum{b} * multipliers[1])) >> shift) + zero_point;
    return value < low ? low : value > high ? high : static_cast<int32_t>(value);
  }
};
using QuantizedSum = QuantizedSumIn<int32_t>;

}  // namespace rushlight::ukernel
