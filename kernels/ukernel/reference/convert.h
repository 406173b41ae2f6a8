// SPDX-License-Identifier: BSD-3-Clause
// References of kernels/ukernel/convert.h for one element, with functions of <cmath>. Bit-exact: tests
// compare all variants with them by equality, over all bit patterns of 16-bit floats.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/ukernel/convert.h"

namespace rushlight::ukernel::reference {

// The value of a 16-bit float format with fraction_bits bits of fraction: 10 for float16, 7 for bfloat16.
// Every value is a float32. All NaN patterns of a sign give one NaN.
inline float value_of(uint16_t bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    magnitude = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    magnitude = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  }
  return static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
}

// The nearest value of that format, halves to even. NaN becomes the quiet NaN of its sign with no other bits.
// Subnormal results have the least exponent; values that are too large become infinity, also by the carry.
inline uint16_t bits_of(float value, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int infinite = ((1 << exponent_bits) - 1) << fraction_bits;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinite | (1 << (fraction_bits - 1)));
  const double magnitude = std::fabs(static_cast<double>(value));
  int exponent = magnitude == 0 ? 1 - bias : std::isinf(magnitude) ? bias + 1 : std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;
  if (exponent > bias) return static_cast<uint16_t>(sign | infinite);
  // In units in the last place; a carry increments the exponent.
  const auto significand = static_cast<int>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
  return static_cast<uint16_t>(sign | (((exponent + bias - 1) << fraction_bits) + significand));
}

// Truncates to int64, then keeps the low bits of T. Values outside of int64 and NaN become its least value.
template <class T>
T whole(float value) {
  const bool fits = value >= -0x1p63f && value < 0x1p63f;
  return static_cast<T>(fits ? static_cast<int64_t>(value) : INT64_MIN);
}

// round(x * inverse_scale) + zero_point, clamped. nearbyint() rounds halves to even in the default mode.
template <class T>
T quantize(float x, const Quantization& how) {
  const volatile float scaled = x * how.inverse_scale;  // prevents a fused multiply-add
  const float value = std::nearbyint(scaled) + how.zero_point;
  if (value != value) return 0;
  return static_cast<T>(value < how.low ? how.low : (value > how.high ? how.high : value));
}

template <class T>
float dequantize(T quantized, float scale, float zero_point) {
  return (static_cast<float>(quantized) - zero_point) * scale;
}

}  // namespace rushlight::ukernel::reference
