// SPDX-License-Identifier: BSD-3-Clause
// Complex functions in double, not inlined but for the shortest: complex64 uses them too, so each is compiled
// once. Branch cuts and infinities follow C99, Annex G: the sign of a zero part selects the side of a branch
// cut.
#pragma once

#include <cmath>

#include "runtime/tensor/complex.h"

namespace rushlight::kernels {

using WideComplex = Complex<double>;

// Roots and quotients. complex_sqrt() scales its argument where the modulus would overflow or lose bits. The
// square root has a nonnegative real part.
WideComplex complex_sqrt(WideComplex z);
WideComplex complex_rsqrt(WideComplex z);
inline WideComplex complex_divide(WideComplex a, WideComplex b) { return a / b; }
inline WideComplex complex_reciprocal(WideComplex z) { return complex_divide(1.0, z); }
// Exponentials and logarithms. complex_exp() halves large exponents, since exp(x) may overflow where exp(x)
// cos(y) does not. complex_expm1() and complex_log1p() keep the digits that a sum with 1 would cancel.
// Logarithms have imaginary parts in [-pi, pi], scaled for other bases; near a modulus of 1 they are computed
// from the difference to 1.
WideComplex complex_exp(WideComplex z);
WideComplex complex_exp2(WideComplex z);
WideComplex complex_expm1(WideComplex z);
WideComplex complex_log(WideComplex z);
WideComplex complex_log2(WideComplex z);
WideComplex complex_log10(WideComplex z);
WideComplex complex_log1p(WideComplex z);
// exp(exponent * log(base)). The relative error grows with the magnitude of that exponent.
WideComplex complex_pow(WideComplex base, WideComplex exponent);
// Hyperbolic functions and inverse functions after Kahan; the circular functions below are derived from
// these.
WideComplex complex_sinh(WideComplex z);
WideComplex complex_cosh(WideComplex z);
WideComplex complex_tanh(WideComplex z);
WideComplex complex_asin(WideComplex z);
WideComplex complex_acos(WideComplex z);
WideComplex complex_atanh(WideComplex z);
// 1 / (1 + exp(-z)), z times that, and sin(pi z) / (pi z), which is 1 at 0.
WideComplex complex_sigmoid(WideComplex z);
WideComplex complex_silu(WideComplex z);
WideComplex complex_sinc(WideComplex z);

// Multiplication by i and 1/i, which converts hyperbolic to circular functions: sin z = sinh(i z) / i, cos z
// = cosh(i z). Exact: they exchange the parts and a sign, so signed zeros keep their side of a branch cut.
inline WideComplex times_i(WideComplex z) { return {-z.imag, z.real}; }
inline WideComplex over_i(WideComplex z) { return {z.imag, -z.real}; }

inline WideComplex complex_sin(WideComplex z) { return over_i(complex_sinh(times_i(z))); }
inline WideComplex complex_cos(WideComplex z) { return complex_cosh(times_i(z)); }
inline WideComplex complex_tan(WideComplex z) { return over_i(complex_tanh(times_i(z))); }
inline WideComplex complex_asinh(WideComplex z) { return over_i(complex_asin(times_i(z))); }
inline WideComplex complex_atan(WideComplex z) { return over_i(complex_atanh(times_i(z))); }
inline WideComplex complex_acosh(WideComplex z) {
  const WideComplex angle = complex_acos(z);
  return std::signbit(z.imag) ? over_i(angle) : times_i(angle);
}

// Absolute value. hypot() takes several times as long as a square root, so it is left to sums of squares that
// overflow or lose digits.
template <class T>
inline T modulus(Complex<T> z) {
  const double real = z.real;
  const double imag = z.imag;
  const double square = real * real + imag * imag;
  const bool is_safe = square > 0x1p-960 && square < 0x1p1000;
  return static_cast<T>(is_safe ? std::sqrt(square) : std::hypot(real, imag));
}

// z / |z|, which is 0 at 0.
inline WideComplex complex_sgn(WideComplex z) {
  const double length = modulus(z);
  return length == 0 ? WideComplex(0.0) : WideComplex(z.real / length, z.imag / length);
}

// Argument in [-pi, pi].
template <class T>
inline T phase(Complex<T> z) {
  return std::atan2(z.imag, z.real);
}

}  // namespace rushlight::kernels
