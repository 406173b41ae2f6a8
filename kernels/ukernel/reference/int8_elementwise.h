// SPDX-License-Identifier: BSD-3-Clause
// References of kernels/ukernel/int8_elementwise.h for one element, bit-exact, for tests. The sum is computed
// in 64 bits, independently of QuantizedSum. The other two call the operators that define these functions:
// the tests then compare vectors and tables with that scalar code.
#pragma once

#include <algorithm>

#include "kernels/ukernel/int8_elementwise.h"

namespace rushlight::ukernel::reference {

// Exact, also where QuantizedSum uses all 32 bits. The shift rounds down; a rounding term is part of the
// offset.
inline int8_t add_int8(const QuantizedSum& sum, int8_t a, int8_t b) {
  const int64_t exact = int64_t{a} * sum.multipliers[0] + int64_t{b} * sum.multipliers[1] + sum.offset;
  const int64_t value = (exact >> sum.shift) + sum.zero_point;
  return static_cast<int8_t>(std::clamp<int64_t>(value, sum.low, sum.high));
}

inline int8_t add_rescaled_int8(const RescaledSum& sum, int8_t a, int8_t b) {
  return static_cast<int8_t>(sum(a, b));
}

inline int8_t multiply_int8_pairs(const QuantizedProduct& product, int8_t a, int8_t b) {
  return static_cast<int8_t>(product(a, b));
}

}  // namespace rushlight::ukernel::reference
