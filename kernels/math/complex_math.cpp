// SPDX-License-Identifier: BSD-3-Clause
// Formulas that avoid cancellation and overflow. References: Kahan, "Branch Cuts for Complex Elementary
// Functions", 1987; C99, Annex G, for special values.
#include "kernels/math/complex_math.h"

#include <cfloat>

namespace rushlight::kernels {

namespace {

constexpr double kHalfPi = 1.57079632679489661923;
constexpr double kLog2 = 0.69314718055994530942;
constexpr double kLog10 = 2.30258509299404568402;

bool is_infinite(WideComplex z) { return std::isinf(z.real) || std::isinf(z.imag); }

double larger_part(WideComplex z) { return std::fmax(std::fabs(z.real), std::fabs(z.imag)); }

WideComplex scaled(WideComplex z, double factor) { return {z.real * factor, z.imag * factor}; }

WideComplex conjugate(WideComplex z) { return {z.real, -z.imag}; }

WideComplex infinite_sqrt(WideComplex z) {
  if (std::isinf(z.imag)) return {INFINITY, z.imag};
  const double rest = std::isnan(z.imag) ? z.imag : 0.0;
  if (z.real > 0) return {z.real, std::copysign(rest, z.imag)};
  return {rest, std::copysign(INFINITY, z.imag)};
}

// Square root if neither the modulus nor its double overflows or is subnormal.
WideComplex ordinary_sqrt(WideComplex z) {
  // The root of a sum of two terms that are not negative; the other part follows from 2 * re * im = z.imag.
  const double root = std::sqrt((std::fabs(z.real) + modulus(z)) / 2);
  const double other = std::fabs(z.imag) / (2 * root);
  if (z.real >= 0) return {root, std::copysign(other, z.imag)};
  return {other, std::copysign(root, z.imag)};
}

// Logarithm of the modulus. Near 1 it is computed from the difference to 1, which the rounded modulus has
// lost.
double log_modulus(WideComplex z) {
  // Scaled by a quarter if the modulus could overflow.
  const double large = larger_part(z);
  if (large > DBL_MAX / 4 && large <= DBL_MAX) return std::log(modulus(scaled(z, 0.25))) + 2 * kLog2;
  const double length = modulus(z);
  if (!(length > 0.5 && length < 2)) return std::log(length);
  // ln|z| = log1p(|z|^2 - 1) / 2, with |z|^2 - 1 = (large - 1)(large + 1) + small^2.
  const double small = std::fmin(std::fabs(z.real), std::fabs(z.imag));
  return std::log1p((large - 1) * (large + 1) + small * small) / 2;
}

}  // namespace

WideComplex complex_sqrt(WideComplex z) {
  if (is_infinite(z)) return infinite_sqrt(z);
  if (z == WideComplex(0.0)) return {0.0, z.imag};
  // Scales by powers of four, whose roots are exact, to keep the modulus in range.
  const double large = larger_part(z);
  if (large > DBL_MAX / 4) return scaled(ordinary_sqrt(scaled(z, 0.0625)), 4);
  if (large < DBL_MIN * 4) return scaled(ordinary_sqrt(scaled(z, 0x1p54)), 0x1p-27);
  return ordinary_sqrt(z);
}

WideComplex complex_rsqrt(WideComplex z) { return complex_reciprocal(complex_sqrt(z)); }

WideComplex complex_exp(WideComplex z) {
  if (z.imag == 0) return {std::exp(z.real), z.imag};
  if (std::isinf(z.real) && !std::isfinite(z.imag)) {
    return z.real > 0 ? WideComplex(z.real, NAN) : WideComplex(0.0, 0.0);
  }
  const double cosine = std::cos(z.imag);
  const double sine = std::sin(z.imag);
  if (z.real < 709) return scaled({cosine, sine}, std::exp(z.real));
  const double half = std::exp(z.real / 2);  // exp(z.real) may overflow where the product does not
  return scaled(scaled({cosine, sine}, half), half);
}

WideComplex complex_exp2(WideComplex z) { return complex_exp(scaled(z, kLog2)); }

WideComplex complex_expm1(WideComplex z) {
  if (z.imag == 0) return {std::expm1(z.real), z.imag};
  if (!std::isfinite(z.real)) return complex_exp(z) - WideComplex(1.0);
  // exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y / 2)^2: no difference of nearly equal terms.
  const double sine = std::sin(z.imag / 2);
  return {std::expm1(z.real) * std::cos(z.imag) - 2 * sine * sine, std::exp(z.real) * std::sin(z.imag)};
}

WideComplex complex_log(WideComplex z) { return {log_modulus(z), phase(z)}; }

WideComplex complex_log2(WideComplex z) { return scaled(complex_log(z), 1 / kLog2); }

WideComplex complex_log10(WideComplex z) { return scaled(complex_log(z), 1 / kLog10); }

WideComplex complex_log1p(WideComplex z) {
  const WideComplex sum(z.real + 1, z.imag);
  if (!(larger_part(z) < 0.5)) return complex_log(sum);
  // |1 + z|^2 - 1 = x (x + 2) + y^2.
  return {std::log1p(z.real * (z.real + 2) + z.imag * z.imag) / 2, phase(sum)};
}

WideComplex complex_pow(WideComplex base, WideComplex exponent) {
  return complex_exp(exponent * complex_log(base));
}

WideComplex complex_sinh(WideComplex z) {
  if (z.imag == 0) return {std::sinh(z.real), z.imag};
  if (z.real == 0 && !std::isfinite(z.imag)) return {z.real, NAN};
  return {std::sinh(z.real) * std::cos(z.imag), std::cosh(z.real) * std::sin(z.imag)};
}

WideComplex complex_cosh(WideComplex z) {
  if (z.imag == 0) return {std::cosh(z.real), std::copysign(1.0, z.real) * z.imag};
  if (z.real == 0 && !std::isfinite(z.imag)) return {NAN, z.real};
  return {std::cosh(z.real) * std::cos(z.imag), std::sinh(z.real) * std::sin(z.imag)};
}

// Kahan's formula with the tangent of the imaginary part, which has no difference of large terms.
WideComplex complex_tanh(WideComplex z) {
  if (z.imag == 0) return {std::tanh(z.real), z.imag};
  // Beyond this the real part rounds to 1 in double, and the formula below would overflow for larger values.
  if (std::fabs(z.real) > 22) {
    const double rest = std::isfinite(z.imag)
                            ? 4 * std::sin(z.imag) * std::cos(z.imag) * std::exp(-2 * std::fabs(z.real))
                            : 0.0;
    return {std::copysign(1.0, z.real), rest};
  }
  const double tangent = std::tan(z.imag);
  const double sine = std::sinh(z.real);
  const double cosine = std::sqrt(1 + sine * sine);
  const double slope = 1 + tangent * tangent;
  const double divisor = 1 + slope * sine * sine;
  return {slope * cosine * sine / divisor, tangent / divisor};
}

WideComplex complex_asin(WideComplex z) {
  if (is_infinite(z)) return {std::atan2(z.real, std::fabs(z.imag)), std::copysign(INFINITY, z.imag)};
  const WideComplex below = complex_sqrt({1 - z.real, -z.imag});
  const WideComplex above = complex_sqrt({1 + z.real, z.imag});
  return {std::atan2(z.real, (below * above).real), std::asinh((conjugate(below) * above).imag)};
}

WideComplex complex_acos(WideComplex z) {
  if (is_infinite(z)) return {std::atan2(std::fabs(z.imag), z.real), -std::copysign(INFINITY, z.imag)};
  const WideComplex below = complex_sqrt({1 - z.real, -z.imag});
  const WideComplex above = complex_sqrt({1 + z.real, z.imag});
  return {2 * std::atan2(below.real, above.real), std::asinh((conjugate(above) * below).imag)};
}

WideComplex complex_atanh(WideComplex z) {
  constexpr double kLarge = 0x1p510;
  const double sign = std::copysign(1.0, z.real);
  const double x = std::fabs(z.real);
  const double y = z.imag * sign;
  if (is_infinite(z)) return {sign * 0.0, std::copysign(kHalfPi, z.imag)};
  if (x > kLarge || std::fabs(y) > kLarge) {
    return {std::copysign(complex_reciprocal(z).real, sign), std::copysign(kHalfPi, z.imag)};
  }
  // Computes for x >= 0, as atanh is odd: re = log1p(4 x / ((1 - x)^2 + y^2)) / 4.
  const double difference = 1 - x;
  const double square = y * y;
  // Near the pole the square underflows, and cannot be a divisor.
  const double real = x == 1 && std::fabs(y) < 0x1p-500
                          ? (kLog2 - std::log(std::fabs(y))) / 2
                          : std::log1p(4 * x / (difference * difference + square)) / 4;
  const double imag = std::atan2(2 * y, difference * (1 + x) - square) / 2;
  return {sign * real, sign * imag};
}

WideComplex complex_sigmoid(WideComplex z) { return complex_reciprocal(WideComplex(1.0) + complex_exp(-z)); }

WideComplex complex_silu(WideComplex z) { return complex_divide(z, WideComplex(1.0) + complex_exp(-z)); }

WideComplex complex_sinc(WideComplex z) {
  if (z == WideComplex(0.0)) return 1.0;
  z = scaled(z, 2 * kHalfPi);
  return complex_divide(complex_sin(z), z);
}

}  // namespace rushlight::kernels
