// SPDX-License-Identifier: BSD-3-Clause
// Rounding to integers for loops that compilers vectorize: processors without an instruction for it, such as
// x86-64 of any age, call the C library for each element otherwise. A number below 2^23 (2^52 for double)
// plus that power of two has no fraction bits left. Selections are bit masks: compilers make branches of
// others.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rushlight::kernels {

namespace internal {

// From here on every number of T is an integer.
template <class T>
inline constexpr T kWhole = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);

// value, or 0.
template <class T>
inline T value_if(bool condition, T value) {
  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  bits &= condition ? ~decltype(bits)(0) : 0;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

// A number that is not negative, rounded to the nearest integer, halves to even.
template <class T>
inline T nearest(T size) {
  const T whole = value_if(size < kWhole<T>, kWhole<T>);  // integers and NaN stay
  return (size + whole) - whole;
}

}  // namespace internal

// The nearest integer, halves to even. T is float or double.
template <class T>
inline T rounded_to_even(T x) {
#ifdef __OPTIMIZE_SIZE__
  return std::nearbyint(x);
#else
  return std::copysign(internal::nearest(std::fabs(x)), x);
#endif
}

// The next integer towards 0.
template <class T>
inline T rounded_to_zero(T x) {
#ifdef __OPTIMIZE_SIZE__
  return std::trunc(x);
#else
  const T size = std::fabs(x);
  const T whole = internal::nearest(size);
  return std::copysign(whole - internal::value_if(whole > size, T(1)), x);
#endif
}

}  // namespace rushlight::kernels
