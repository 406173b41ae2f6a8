// SPDX-License-Identifier: BSD-3-Clause
// The standard library's mathematical functions for Half and BFloat16, in namespace std like their overloads
// for float. Each computes in float and rounds once, so the result is within half a unit in the last place of
// the type, plus the float function's error.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

namespace c10 {

// True for Half and BFloat16.
template <class T>
struct is_reduced_floating_point
    : std::bool_constant<std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>> {};
template <class T>
constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;

}  // namespace c10

namespace std {

using c10::is_reduced_floating_point;
using c10::is_reduced_floating_point_v;

// Defines a function of one argument. Rounding to T happens in the return statement. Results beyond T's range
// become infinite, so exp() of a Half is infinite above 11.09; arguments outside of the domain give NaN, as
// in float.
#define RUSHLIGHT_FLOAT16_FUNCTION(name)                                        \
  template <class T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0> \
  inline T name(T a) {                                                          \
    return std::name(float(a));                                                 \
  }

RUSHLIGHT_FLOAT16_FUNCTION(acos)
RUSHLIGHT_FLOAT16_FUNCTION(asin)
RUSHLIGHT_FLOAT16_FUNCTION(atan)
RUSHLIGHT_FLOAT16_FUNCTION(atanh)
RUSHLIGHT_FLOAT16_FUNCTION(erf)
RUSHLIGHT_FLOAT16_FUNCTION(erfc)
RUSHLIGHT_FLOAT16_FUNCTION(exp)
RUSHLIGHT_FLOAT16_FUNCTION(expm1)
RUSHLIGHT_FLOAT16_FUNCTION(log)
RUSHLIGHT_FLOAT16_FUNCTION(log10)
RUSHLIGHT_FLOAT16_FUNCTION(log1p)
RUSHLIGHT_FLOAT16_FUNCTION(log2)
RUSHLIGHT_FLOAT16_FUNCTION(ceil)
RUSHLIGHT_FLOAT16_FUNCTION(cos)
RUSHLIGHT_FLOAT16_FUNCTION(floor)
RUSHLIGHT_FLOAT16_FUNCTION(nearbyint)
RUSHLIGHT_FLOAT16_FUNCTION(sin)
RUSHLIGHT_FLOAT16_FUNCTION(tan)
RUSHLIGHT_FLOAT16_FUNCTION(sinh)
RUSHLIGHT_FLOAT16_FUNCTION(cosh)
RUSHLIGHT_FLOAT16_FUNCTION(tanh)
RUSHLIGHT_FLOAT16_FUNCTION(trunc)
// The logarithm of |gamma(a)|; infinite for 0 and negative integers.
RUSHLIGHT_FLOAT16_FUNCTION(lgamma)
RUSHLIGHT_FLOAT16_FUNCTION(sqrt)
RUSHLIGHT_FLOAT16_FUNCTION(abs)
#undef RUSHLIGHT_FLOAT16_FUNCTION

// False for infinities and NaN.
template <class T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline bool isfinite(T a) {
  return std::isfinite(float(a));
}
// 1 / sqrt(a), which the standard library lacks: infinite for 0, NaN below it.
template <class T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T rsqrt(T a) {
  return 1.0f / std::sqrt(float(a));
}
// A power with a double exponent is computed in double, then rounded to float and to T.
template <class T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T pow(T a, double b) {
  return static_cast<float>(std::pow(double(float(a)), b));
}
// A power with an exponent of the same type is computed in float.
template <class T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T pow(T a, T b) {
  return std::pow(float(a), float(b));
}
// The remainder of a / b with the sign of a, exact in float and in T; NaN if b is 0.
template <class T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T fmod(T a, T b) {
  return std::fmod(float(a), float(b));
}

// The neighbour of `from` in this format, in the direction of `to`: `to` if they are equal, a NaN if either
// is one. From 0 it is the smallest subnormal.
template <class T, enable_if_t<c10::is_reduced_floating_point_v<T>, int> = 0>
inline T nextafter(T from, T to) {
  const float start = from;
  const float end = to;
  if (start != start || end != end) return start + end;
  if (start == end) return to;
  const auto bits = [](unsigned value) { return T(static_cast<unsigned short>(value), T::from_bits()); };
  if (start == 0) return bits(end < 0 ? 0x8001u : 0x0001u);
  // Sign and magnitude: adding 1 to the bits moves away from zero.
  return bits(from.x + ((start < end) == (start > 0) ? 1u : -1u));
}

}  // namespace std
