// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic on elements with PyTorch's results and without undefined behavior: integers wrap, bool counts as
// 0 and 1, floating types compute in their own type.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace rushlight::kernels {

namespace internal {

// An unsigned type at least as wide as int, so that neither the operation nor integer promotion overflows:
// the product of two uint16_t would be computed in int and could overflow it.
template <class T>
using Wrapping = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

// bool is excluded: it has no unsigned type, and its results are 0 or 1.
template <class T>
inline constexpr bool kWraps = std::is_integral_v<T> && !std::is_same_v<T, bool>;

}  // namespace internal

// Sum, difference and product; integers wrap modulo 2^n, bool results are nonzero or not.
template <class T>
inline T wrapping_add(T a, T b) {
  if constexpr (internal::kWraps<T>) {
    using U = internal::Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

template <class T>
inline T wrapping_subtract(T a, T b) {
  if constexpr (internal::kWraps<T>) {
    using U = internal::Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
  } else {
    return static_cast<T>(a - b);
  }
}

template <class T>
inline T wrapping_multiply(T a, T b) {
  if constexpr (internal::kWraps<T>) {
    using U = internal::Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return static_cast<T>(a * b);
  }
}

// False for unsigned types; compares without a compiler warning.
template <class T>
inline bool is_negative(T value) {
  if constexpr (std::is_signed_v<T>) return value < 0;
  return false;
}

// Integer division that truncates, as in C++. Precondition: b is not 0. The lowest integer divided by -1
// wraps; the CPU's division instruction would trap.
template <class T>
inline T truncated_divide(T a, T b) {
  // 0 - a wraps to a for the lowest integer; a / -1 would overflow.
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrapping_subtract(T(0), a);
  return static_cast<T>(a / b);
}

// fmod() of float32 by one division in double: the quotient is exact enough to truncate, and its product with
// b is exact, if it has at most 27 bits. The C library divides bit by bit.
inline float quick_fmod(float a, float b) {
#ifndef __OPTIMIZE_SIZE__
  const double quotient = double{a} / double{b};
  if (std::fabs(quotient) < 0x1p27) {
    const auto whole = static_cast<int32_t>(quotient);
    if (whole == 0) return a;  // b may be infinite
    return static_cast<float>(std::copysign(double{a} - static_cast<double>(whole) * double{b}, double{a}));
  }
#endif
  return std::fmod(a, b);
}
inline double quick_fmod(double a, double b) { return std::fmod(a, b); }

#ifndef __OPTIMIZE_SIZE__
// floor(a / b) of float32 by one division in double, if the quotient is not 0 and below 2^27: true quotients
// that are no integers differ from every integer by more than the rounding error, since a and b have 24 bits.
// False for all others: zeros, infinities and NaN.
inline bool quick_floor(float a, float b, double* floored) {
  const double quotient = double{a} / double{b};
  const auto whole = static_cast<double>(static_cast<int32_t>(std::fabs(quotient) < 0x1p27 ? quotient : 0.0));
  *floored = whole - static_cast<double>(whole > quotient);
  return std::fabs(quotient) < 0x1p27 && quotient != 0;
}
inline bool quick_floor(double, double, double*) { return false; }
#endif

// Remainder of truncated division; has the sign of a. An integer b must not be 0; with a floating b of 0 it
// is NaN.
template <class T>
inline T truncated_remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return quick_fmod(a, b);
  } else {
    // Every integer is a multiple of -1, and the remainder instruction of some processors traps as the
    // division does.
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T(0);
    return static_cast<T>(a % b);
  }
}

// Remainder of floored division, as Python's %; has the sign of b. The caller refuses an integer b of 0.
template <class T>
inline T floored_remainder(T a, T b) {
#ifndef __OPTIMIZE_SIZE__
  if constexpr (std::is_floating_point_v<T>) {
    double whole;
    if (quick_floor(a, b, &whole)) {
      const double remainder = double{a} - whole * double{b};  // exact
      return static_cast<T>(remainder == 0 ? std::copysign(0.0, double{a}) : remainder);
    }
  }
#endif
  const T remainder = truncated_remainder(a, b);
  // The remainders differ by b if the truncated one is not 0 and its sign is not that of b.
  const bool adjusts = remainder != T(0) && is_negative(remainder) != is_negative(b);
  return adjusts ? static_cast<T>(remainder + b) : remainder;
}

// Floored division, as Python's //. For floating values it agrees with floored_remainder(); floor(a / b) does
// not if the quotient rounds up to an integer. The method is that of CPython's float division: (a - fmod(a,
// b)) / b is an integer up to rounding, which floor() and the comparison with 0.5 remove. A zero quotient has
// the sign of a / b.
template <class T>
inline T floored_divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
#ifndef __OPTIMIZE_SIZE__
    double whole;
    if (quick_floor(a, b, &whole))
      return static_cast<T>(whole == 0 ? std::copysign(0.0, double{a} * double{b}) : whole);
#endif
    if (b == T(0)) return a / b;
    const T remainder = quick_fmod(a, b);
    // `quotient` is near an integer, since a - remainder is a multiple of b up to rounding.
    T quotient = (a - remainder) / b;
    if (remainder != T(0) && is_negative(remainder) != is_negative(b)) quotient -= T(1);
    if (quotient == T(0)) return std::copysign(T(0), a / b);
    const T floored = std::floor(quotient);
    return quotient - floored > T(0.5) ? floored + T(1) : floored;
  } else {
    const T quotient = truncated_divide(a, b);
    const T remainder = truncated_remainder(a, b);
    const bool adjusts = remainder != T(0) && is_negative(remainder) != is_negative(b);
    return adjusts ? static_cast<T>(quotient - 1) : quotient;
  }
}

}  // namespace rushlight::kernels
