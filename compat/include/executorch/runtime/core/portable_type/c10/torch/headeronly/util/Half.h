// SPDX-License-Identifier: BSD-3-Clause
// IEEE 754 binary16 under c10's name. It reaches 65504, with 3 to 4 decimal digits; below 2^-14 it is
// subnormal, down to 2^-24. Arithmetic is done in float and rounded to nearest even.
//
//   bit   15     14 ... 10   9 ... 0
//         sign   exponent    fraction      value = (-1)^sign * 2^(exponent - 15) * 1.fraction
#pragma once

#include <cstdint>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/bit_cast.h>
#include <torch/headeronly/util/floating_point_utils.h>

#include "compat/detail/float16_operators.h"
#include "runtime/tensor/float16.h"

namespace c10 {

namespace detail {
// Conversions: bits to float, which is exact; float to bits, rounded to nearest even, infinite beyond the
// range, with subnormals; bits to the bits of the float.
inline float fp16_ieee_to_fp32_value(uint16_t bits) { return rushlight::internal::half_to_float(bits); }
inline uint16_t fp16_ieee_from_fp32_value(float value) { return rushlight::internal::float_to_half(value); }
inline uint32_t fp16_ieee_to_fp32_bits(uint16_t bits) { return fp32_to_bits(fp16_ieee_to_fp32_value(bits)); }
}  // namespace detail

// The same layout as rushlight::Half. The default constructor leaves the value undefined, as for a built-in
// type.
struct alignas(2) Half {
  unsigned short x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  Half() = default;
  // From bits: Half(0x3c00, Half::from_bits()) is 1.
  constexpr Half(unsigned short bits, from_bits_t) : x(bits) {}
  // Conversion from float rounds; conversion to float is exact. Both are implicit.
  Half(float value) : x(detail::fp16_ieee_from_fp32_value(value)) {}
  // The same names in the newer namespace.
  operator float() const { return detail::fp16_ieee_to_fp32_value(x); }
};

RUSHLIGHT_FLOAT16_OPERATORS(Half)

}  // namespace c10

namespace torch::headeronly {
namespace detail {
using c10::detail::fp16_ieee_from_fp32_value;
using c10::detail::fp16_ieee_to_fp32_bits;
using c10::detail::fp16_ieee_to_fp32_value;
}  // namespace detail
using c10::Half;
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

// Built from bits, because conversion from float is not constexpr. epsilon() is 2^-10, min() 2^-14, max()
// 65504, denorm_min() 2^-24.
template <>
class std::numeric_limits<c10::Half> : public rushlight::compat::Float16Limits {
  static constexpr c10::Half of(unsigned short bits) { return {bits, c10::Half::from_bits()}; }

 public:
  static constexpr bool is_iec559 = true;
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;
  static constexpr c10::Half min() { return of(0x0400); }
  static constexpr c10::Half lowest() { return of(0xfbff); }
  static constexpr c10::Half max() { return of(0x7bff); }
  static constexpr c10::Half epsilon() { return of(0x1400); }
  static constexpr c10::Half round_error() { return of(0x3800); }
  static constexpr c10::Half infinity() { return of(0x7c00); }
  static constexpr c10::Half quiet_NaN() { return of(0x7e00); }
  static constexpr c10::Half signaling_NaN() { return of(0x7d00); }
  static constexpr c10::Half denorm_min() { return of(0x0001); }
};
