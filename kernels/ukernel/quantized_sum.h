// SPDX-License-Identifier: BSD-3-Clause
// The sum of two quantized values with different scales:
//
//   out = clamp(((a * multipliers[0] + b * multipliers[1] + offset) >> shift) + zero_point, low, high)
//
// in the type `Sum`: int32_t, or int64_t for int16. The caller ensures that the sum fits.
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
    const Sum value = ((Sum{a} * multipliers[0] + (offset + Sum{b} * multipliers[1])) >> shift) + zero_point;
    return value < low ? low : value > high ? high : static_cast<int32_t>(value);
  }
};
using QuantizedSum = QuantizedSumIn<int32_t>;

}  // namespace rushlight::ukernel
