// SPDX-License-Identifier: BSD-3-Clause
// float16 by its definition, for tests.
#pragma once

#include <cmath>
#include <cstdint>

namespace rushlight::ukernel::reference {

inline float half_to_float(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? std::nanf("") : sign * HUGE_VALF;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                               : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25));
}

}  // namespace rushlight::ukernel::reference
