// SPDX-License-Identifier: BSD-3-Clause
// The standard library's functions of complex numbers, computed in std::complex<T>, whose accuracy and branch
// cuts they have. T is float or double. Namespace std has them too, so that a kernel's std::exp(x) compiles
// for every dtype.
#pragma once

#include <cmath>
#include <complex>

#include <c10/util/complex.h>

namespace c10_complex_math {

// Defines a function that converts to std::complex, calls its namesake in std, and converts back. Branch cuts
// and signs of zeros are the standard library's.
#define RUSHLIGHT_COMPLEX_FUNCTION(name)                                             \
  template <class T>                                                                 \
  c10::complex<T> name(const c10::complex<T>& x) {                                   \
    return static_cast<c10::complex<T>>(std::name(static_cast<std::complex<T>>(x))); \
  }

RUSHLIGHT_COMPLEX_FUNCTION(exp)
RUSHLIGHT_COMPLEX_FUNCTION(log)
RUSHLIGHT_COMPLEX_FUNCTION(log10)
RUSHLIGHT_COMPLEX_FUNCTION(sqrt)
RUSHLIGHT_COMPLEX_FUNCTION(sin)
RUSHLIGHT_COMPLEX_FUNCTION(cos)
RUSHLIGHT_COMPLEX_FUNCTION(tan)
RUSHLIGHT_COMPLEX_FUNCTION(asin)
RUSHLIGHT_COMPLEX_FUNCTION(acos)
RUSHLIGHT_COMPLEX_FUNCTION(atan)
RUSHLIGHT_COMPLEX_FUNCTION(sinh)
RUSHLIGHT_COMPLEX_FUNCTION(cosh)
RUSHLIGHT_COMPLEX_FUNCTION(tanh)
RUSHLIGHT_COMPLEX_FUNCTION(asinh)
RUSHLIGHT_COMPLEX_FUNCTION(acosh)
RUSHLIGHT_COMPLEX_FUNCTION(atanh)
#undef RUSHLIGHT_COMPLEX_FUNCTION

// log(x) / ln 2, as the standard library has no log2 of complex numbers.
template <class T>
c10::complex<T> log2(const c10::complex<T>& x) {
  return log(x) / std::log(T(2));
}

// exp(x) - 1, accurate for small x, where the difference would cancel. With x = a + ib:
//
//   real: expm1(a) cos b - 2 sin(b/2)^2, since cos b - 1 = -2 sin(b/2)^2; imaginary: exp(a) sin b
template <class T>
c10::complex<T> expm1(const c10::complex<T>& x) {
  const T half_sine = std::sin(x.imag() / 2);
  const T growth = std::expm1(x.real());
  return {growth * std::cos(x.imag()) - 2 * half_sine * half_sine, (growth + 1) * std::sin(x.imag())};
}

// log(1 + x), accurate for small x. With x = a + ib the real part is the logarithm of |1 + x|, for small
// parts log1p(a (a + 2) + b^2) / 2, which avoids rounding 1 + a; otherwise by hypot, which does not overflow.
// The imaginary part is the angle of 1 + x.
template <class T>
c10::complex<T> log1p(const c10::complex<T>& x) {
  const T re = x.real();
  const T im = x.imag();
  const T angle = std::atan2(im, re + 1);
  if (std::abs(re) < T(0.5) && std::abs(im) < T(0.5)) {
    return {std::log1p(re * (re + 2) + im * im) / 2, angle};
  }
  return {std::log(std::hypot(re + 1, im)), angle};
}

// Converts to std::complex with the same parts.
template <class T>
std::complex<T> standard(const c10::complex<T>& x) {
  return {x.real(), x.imag()};
}

// Powers by std::pow: of two complex numbers, which is exp(y log x).
template <class T>
c10::complex<T> pow(const c10::complex<T>& x, const c10::complex<T>& y) {
  const std::complex<T> power = std::pow(standard(x), standard(y));
  return {power.real(), power.imag()};
}
// A complex base with a real exponent, for which std::pow may be faster and more accurate.
template <class T>
c10::complex<T> pow(const c10::complex<T>& x, const T& y) {
  const std::complex<T> power = std::pow(standard(x), y);
  return {power.real(), power.imag()};
}
// A real base with a complex exponent.
template <class T>
c10::complex<T> pow(const T& x, const c10::complex<T>& y) {
  const std::complex<T> power = std::pow(x, standard(y));
  return {power.real(), power.imag()};
}

}  // namespace c10_complex_math

// In namespace std, so that unqualified generic code finds them beside the functions for float and double.
// Names of c10's type do not collide with the standard's overloads.
namespace std {
using c10_complex_math::acos;
using c10_complex_math::acosh;
using c10_complex_math::asin;
using c10_complex_math::asinh;
using c10_complex_math::atan;
using c10_complex_math::atanh;
using c10_complex_math::cos;
using c10_complex_math::cosh;
using c10_complex_math::exp;
using c10_complex_math::expm1;
using c10_complex_math::log;
using c10_complex_math::log10;
using c10_complex_math::log1p;
using c10_complex_math::log2;
using c10_complex_math::pow;
using c10_complex_math::sin;
using c10_complex_math::sinh;
using c10_complex_math::sqrt;
using c10_complex_math::tan;
using c10_complex_math::tanh;
}  // namespace std
