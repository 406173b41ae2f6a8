// SPDX-License-Identifier: BSD-3-Clause
// overflows<To>(value) returns true if a value does not fit in another type. Precision does not count: 0.1
// fits in Half, and a fraction in an integer. PyTorch's rule for scalar arguments of operators.
//
//   overflows<int8_t>(128) = true, overflows<uint8_t>(-1) = false, overflows<uint8_t>(-1, true) = true
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <c10/macros/Macros.h>
#include <c10/util/TypeSafeSignMath.h>
#include <c10/util/complex.h>

namespace c10 {

// A bool fits in every type.
template <class To, class From>
std::enable_if_t<std::is_same_v<From, bool>, bool> overflows(From, bool strict_unsigned = false) {
  static_cast<void>(strict_unsigned);
  return false;
}

// An integer in the limits of To, or of its component if To is complex. A negative value fits in an unsigned
// type if its magnitude does, because it wraps there (-1 as 255), unless `strict_unsigned`.
template <class To, class From>
std::enable_if_t<std::is_integral_v<From> && !std::is_same_v<From, bool>, bool> overflows(
    From value, bool strict_unsigned = false) {
  using Part = typename scalar_value_type<To>::type;
  using Limit = std::numeric_limits<Part>;
  if constexpr (!Limit::is_signed && std::numeric_limits<From>::is_signed) {
    if (!strict_unsigned) {
      const uint64_t magnitude = 0 - static_cast<uint64_t>(value);
      return greater_than_max<Part>(value) ||
             (is_negative(value) && magnitude > static_cast<uint64_t>(Limit::max()));
    }
  }
  return less_than_lowest<Part>(value) || greater_than_max<Part>(value);
}

// Infinity fits if To has one; NaN fits unless To is an integer. A fraction is truncated for integers, but
// -0.5 does not fit in an unsigned type.
template <class To, class From>
std::enable_if_t<std::is_floating_point_v<From>, bool> overflows(From value, bool strict_unsigned = false) {
  static_cast<void>(strict_unsigned);
  using Limit = std::numeric_limits<typename scalar_value_type<To>::type>;
  if (Limit::has_infinity && std::isinf(value)) return false;
  if (!Limit::has_quiet_NaN && value != value) return true;
  if constexpr (Limit::is_integer) {
    // The first value beyond the range: a power of two, exact in From even if the largest integer is not.
    const From beyond = std::ldexp(From{1}, Limit::digits);
    return value < static_cast<From>(Limit::lowest()) || value >= beyond;
  } else {
    return value < Limit::lowest() || value > Limit::max();
  }
}

// Both parts must fit; in a type that is not complex only with an imaginary part of 0.
template <class To, class From>
std::enable_if_t<is_complex<From>::value, bool> overflows(From value, bool strict_unsigned = false) {
  if (!is_complex<To>::value && value.imag() != 0) return true;
  using Part = typename scalar_value_type<To>::type;
  using FromPart = typename From::value_type;
  return overflows<Part, FromPart>(value.real(), strict_unsigned) ||
         overflows<Part, FromPart>(value.imag(), strict_unsigned);
}

}  // namespace c10
