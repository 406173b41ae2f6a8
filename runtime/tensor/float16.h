// SPDX-License-Identifier: BSD-3-Clause
// Storage types for the two 16-bit floating-point formats. They convert to and from float implicitly, and
// arithmetic is done in float. Conversion to float is exact. Conversion from float rounds to nearest even and
// preserves infinities; every NaN becomes one quiet NaN. A double is rounded to float first.
#pragma once

#include <cstdint>
#include <cstring>

namespace rushlight {

namespace internal {

// Returns the bits of a float, and the float with the given bits.
inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float bits_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Convert between binary16 and binary32. The first is exact; the second rounds to nearest even, to infinity
// beyond the range, and keeps subnormals.
float half_to_float(uint16_t half);
uint16_t float_to_half(float value);

}  // namespace internal

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction. The largest finite value is 65504. A NaN keeps its
// sign.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  Half(float value) : bits(internal::float_to_half(value)) {}       // NOLINT: implicit by design
  operator float() const { return internal::half_to_float(bits); }  // NOLINT: implicit by design
};

// bfloat16: the upper half of an IEEE 754 binary32, so it has the range of float and 7 bits of fraction. The
// NaN is always positive.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  BFloat16(float value) {  // NOLINT: implicit by design
    const uint32_t wide = internal::float_bits(value);
    const bool is_nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = is_nan ? 0x7fc0 : static_cast<uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
  }
  operator float() const { return internal::bits_float(static_cast<uint32_t>(bits) << 16); }  // NOLINT
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace rushlight
