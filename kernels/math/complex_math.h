// SPDX-License-Identifier: BSD-3-Clause
// Complex functions in double, not inlined: complex64 uses them too, so each is compiled once. Branch cuts
// and infinities follow C99, Annex G: the sign of a zero part selects the side of a branch cut.
#pragma once

#include <cmath>

#include "runtime/tensor/complex.h"

namespace rushlight::kernels {

using WideComplex = Complex<double>;

WideComplex complex_sqrt(WideComplex z);
WideComplex complex_rsqrt(WideComplex z);
WideComplex complex_reciprocal(WideComplex z);
WideComplex complex_divide(WideComplex a, WideComplex b);
WideComplex complex_exp(WideComplex z);
WideComplex complex_exp2(WideComplex z);
WideComplex complex_expm1(WideComplex z);
WideComplex complex_log(WideComplex z);
WideComplex complex_log2(WideComplex z);
WideComplex complex_log10(WideComplex z);
WideComplex complex_log1p(WideComplex z);
WideComplex complex_pow(WideComplex base, WideComplex exponent);
WideComplex complex_sinh(WideComplex z);
WideComplex complex_cosh(WideComplex z);
WideComplex complex_tanh(WideComplex z);
WideComplex complex_asin(WideComplex z);
WideComplex complex_acos(WideComplex z);
WideComplex complex_atanh(WideComplex z);
WideComplex complex_sigmoid(WideComplex z);
WideComplex complex_silu(WideComplex z);
WideComplex complex_sinc(WideComplex z);
WideComplex complex_sgn(WideComplex z);

// Multiplication by i and 1/i, which converts hyperbolic to circular functions.
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

// Absolute value; hypot() avoids overflow.
template <class T>
inline T modulus(Complex<T> z) {
  return std::hypot(z.real, z.imag);
}

// Argument in [-pi, pi].
template <class T>
inline T phase(Complex<T> z) {
  return std::atan2(z.imag, z.real);
}

}  // namespace rushlight::kernels
