// SPDX-License-Identifier: BSD-3-Clause
// bfloat16, the upper half of a binary32, under c10's name. It has float's range with 2 to 3 decimal digits.
// Arithmetic is done in float and rounded to nearest even.
//
//   bit   15     14 ... 7   6 ... 0
//         sign   exponent   fraction      value = (-1)^sign * 2^(exponent - 127) * 1.fraction
#pragma once

#include <cmath>
#include <cstdint>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/bit_cast.h>

#include "compat/detail/float16_operators.h"
#include "runtime/tensor/float16.h"

namespace c10 {

namespace detail {
// Bits to float, which is exact; float to bits, truncated; float to bits, rounded to nearest even, where each
// NaN becomes 0x7fc0.
inline float f32_from_bits(uint16_t bits) { return bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
inline uint16_t bits_from_f32(float value) { return static_cast<uint16_t>(bit_cast<uint32_t>(value) >> 16); }
inline uint16_t round_to_nearest_even(float value) { return rushlight::BFloat16(value).bits; }
}  // namespace detail

// The same layout as rushlight::BFloat16. The default constructor leaves the value undefined, as for a
// built-in type.
struct alignas(2) BFloat16 {
  uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  BFloat16() = default;
  // From bits: BFloat16(0x3f80, BFloat16::from_bits()) is 1.
  constexpr BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
  // Conversion from float rounds; conversion to float is exact. Both are implicit.
  BFloat16(float value) : x(detail::round_to_nearest_even(value)) {}
  operator float() const { return detail::f32_from_bits(x); }
};

RUSHLIGHT_FLOAT16_OPERATORS(BFloat16)

// Bitwise operators change and return their left operand, as c10's do.
inline BFloat16& operator|(BFloat16& a, const BFloat16& b) {
  a.x = a.x | b.x;
  return a;
}
inline BFloat16& operator^(BFloat16& a, const BFloat16& b) {
  a.x = a.x ^ b.x;
  return a;
}
inline BFloat16& operator&(BFloat16& a, const BFloat16& b) {
  a.x = a.x & b.x;
  return a;
}

// The same names in the newer namespace.
}  // namespace c10

namespace torch::headeronly {
namespace detail {
using c10::detail::bits_from_f32;
using c10::detail::f32_from_bits;
using c10::detail::round_to_nearest_even;
}  // namespace detail
using c10::BFloat16;
using c10::operator+;
using c10::operator-;
using c10::operator*;
using c10::operator/;
using c10::operator+=;
using c10::operator-=;
using c10::operator*=;
using c10::operator/=;
using c10::operator<<;
}  // namespace torch::headeronly

// Built from bits, because conversion from float is not constexpr. epsilon() is 2^-7, min() 2^-126, max()
// 3.39e38, denorm_min() 2^-133. Not IEC 559, which does not define the format.
template <>
class std::numeric_limits<c10::BFloat16> : public rushlight::compat::Float16Limits {
  static constexpr c10::BFloat16 of(unsigned short bits) { return {bits, c10::BFloat16::from_bits()}; }

 public:
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;
  static constexpr c10::BFloat16 min() { return of(0x0080); }
  static constexpr c10::BFloat16 lowest() { return of(0xff7f); }
  static constexpr c10::BFloat16 max() { return of(0x7f7f); }
  static constexpr c10::BFloat16 epsilon() { return of(0x3c00); }
  static constexpr c10::BFloat16 round_error() { return of(0x3f00); }
  static constexpr c10::BFloat16 infinity() { return of(0x7f80); }
  static constexpr c10::BFloat16 quiet_NaN() { return of(0x7fc0); }
  static constexpr c10::BFloat16 signaling_NaN() { return of(0x7f81); }
  static constexpr c10::BFloat16 denorm_min() { return of(0x0001); }
};
