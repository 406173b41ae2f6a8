// SPDX-License-Identifier: BSD-3-Clause
// Rounding to integers for loops that compilers vectorize: processors without an instruction for it, such as
// x86-64 of any age, call the C library for each element otherwise. A number below 2^23 (2^52 for double)
// plus that power of two has no fraction bits left.
#pragma once

#include <cmath>
#include <type_traits>

namespace rushlight::kernels {

namespace internal {

// From here on every number of T is an integer.
template <class T>
inline constexpr T kWhole = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);

}  // namespace internal

// The nearest integer, halves to even. T is float or double.
template <class T>
inline T rounded_to_even(T x) {
#ifdef __OPTIMIZE_SIZE__
  return std::nearbyint(x);
#else
  const T size = std::fabs(x);
  const T whole = (size + internal::kWhole<T>)-internal::kWhole<T>;
  return size < internal::kWhole<T> ? std::copysign(whole, x) : x;  // x if it is NaN
#endif
}

// The next integer towards 0.
template <class T>
inline T rounded_to_zero(T x) {
#ifdef __OPTIMIZE_SIZE__
  return std::trunc(x);
#else
  const T size = std::fabs(x);
  const T nearest = (size + internal::kWhole<T>)-internal::kWhole<T>;
  const T whole = nearest > size ? nearest - T(1) : nearest;
  return size < internal::kWhole<T> ? std::copysign(whole, x) : x;
#endif
}

// The next integer towards minus infinity.
template <class T>
inline T rounded_down(T x) {
#ifdef __OPTIMIZE_SIZE__
  return std::floor(x);
#else
  const T whole = rounded_to_zero(x);
  return whole > x ? whole - T(1) : whole;
#endif
}

}  // namespace rushlight::kernels
