// SPDX-License-Identifier: BSD-3-Clause
// Signs and limits of integers of any signedness, without compiler warnings about comparisons that are always
// false. The signs are defined for floating-point values, too.
#pragma once

#include <limits>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>

namespace c10 {

// False for 0, -0.0, NaN and every unsigned value.
template <class T>
constexpr bool is_negative(const T& x) {
  if constexpr (!std::is_unsigned_v<T>) return x < T();
  return static_cast<void>(x), false;
}

// Returns -1, 0 or 1; 0 for NaN.
template <class T>
constexpr int signum(const T& x) {
  return static_cast<int>(T(0) < x) - static_cast<int>(is_negative(x));
}

// True if exactly one is negative.
template <class T, class U>
constexpr bool signs_differ(const T& a, const U& b) {
  return is_negative(a) != is_negative(b);
}

// True if x exceeds the largest value of Limit. Correct for integers of any sizes and signs, as it compares
// only if T has more digits.
template <class Limit, class T>
constexpr bool greater_than_max(const T& x) {
  if constexpr (std::numeric_limits<T>::digits > std::numeric_limits<Limit>::digits) {
    return x > static_cast<T>(std::numeric_limits<Limit>::max());
  } else {
    static_cast<void>(x);
    return false;
  }
}

// True if x is below the lowest value of Limit. A type without sign has the lowest value 0; a negative x is
// below it.
template <class Limit, class T>
constexpr bool less_than_lowest(const T& x) {
  constexpr auto kLowest = std::numeric_limits<Limit>::lowest();
  if constexpr (std::is_unsigned_v<T> || std::is_unsigned_v<Limit>) return is_negative(x);
  // Both are signed, or floating point: no conversion changes the value.
  else
    return x < kLowest;
}

}  // namespace c10

namespace torch::headeronly {
using c10::greater_than_max;
using c10::is_negative;
using c10::less_than_lowest;
using c10::signs_differ;
using c10::signum;
}  // namespace torch::headeronly
