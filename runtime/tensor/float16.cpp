// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/float16.h"

namespace rushlight::internal {

// Expands the bit fields; finite normal values rebias the exponent by 127 - 15 = 112.
float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return bits_float(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return bits_float(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Zero or subnormal: fraction × 2^-24 is exact in float.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return bits_float(sign | float_bits(magnitude));
}

// Rounds to nearest even: adding 0xfff plus the lowest kept bit carries into the kept bits.
uint16_t float_to_half(float value) {
  const uint32_t wide = float_bits(value);
  const uint32_t sign = (wide >> 16) & 0x8000u;
  const uint32_t magnitude = wide & 0x7fffffffu;
  // NaN: keeps the sign, and drops the payload.
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds past 65504
  if (magnitude < 0x38800000u) {
    // Below the smallest normal half: adding 0.5 makes the FPU round at 2^-24, the step of subnormals.
    const float shifted = bits_float(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (float_bits(shifted) - float_bits(0.5f)));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

}  // namespace rushlight::internal
