// SPDX-License-Identifier: BSD-3-Clause
// Mathematical functions of F64, in the manner of vector_math.h: special cases are computed beside the
// general one and selected by masks, and nothing relies on fused multiply-adds. kernels/ukernel/wide_math.h
// states their errors. Methods:
//
//   exp, expm1       Cody-Waite reduction x = n ln 2 + r, polynomial of degree 11 for e^r, n in exponent bits
//   log, log1p       x = (1 + f) 2^e with 1 + f near 1; log(1 + f) by its series in f / (2 + f)
//   sin, cos, tan    Cody-Waite reduction by three parts of pi/2, polynomials on [-pi/4, pi/4]
//   atan, atan2      quotient of at most 1, reduced once more at tan(pi/8), and a polynomial
//   asin, acos       polynomial up to 1/2, half angles beyond
//   sinh, cosh, tanh from expm1; asinh, acosh, atanh from log1p
//   erf              polynomial of x^2 up to 1, exponential of a polynomial further away
//   erfc             1 - erf up to 1/2; e^(-x^2) in two parts and a polynomial of a quotient further away
//   erfcx            erfc without its exponential, which negative and small x multiply by
//   lgamma           recurrence to [3/2, 5/2] and a polynomial, or Stirling's series; reflection
//   erfinv           rational functions of x^2 or of the logarithm of 1 - |x|
//
// FreeBSD's msun (fdlibm) has the coefficients of the logarithm, sine, cosine and arctangent, which are
// minimax on these intervals.
#pragma once

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/normal_quantile.h"

#if defined(__AVX2__)
#include "kernels/ukernel/x86/wide_math.h"
#endif

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

inline constexpr double kWideInfinity = __builtin_inf();
inline constexpr double kWideNan = __builtin_nan("");
// Added to a value below 2^51, it leaves the nearest integer in the low bits.
inline constexpr double kWideRounder = 0x1.8p52;

#if RL_VECTOR_BYTES > 4
using I64 = int64_t __attribute__((vector_size(RL_VECTOR_BYTES)));
using U64 = uint64_t __attribute__((vector_size(RL_VECTOR_BYTES)));
#else
using I64 = int64_t;
using U64 = uint64_t;
#endif

RL_INLINE I64 bits(F64 value) {
  I64 result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}
RL_INLINE F64 from_bits(I64 value) {
  F64 result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}
RL_INLINE F64 absolute(F64 value) { return from_bits(bits(value) & INT64_MAX); }
RL_INLINE F64 copy_sign(F64 magnitude, F64 sign) {
  return from_bits((bits(magnitude) & INT64_MAX) | (bits(sign) & INT64_MIN));
}
#if !defined(__AVX2__)
RL_INLINE F64 square_root(F64 value) {
  double lanes[kWideLanes];
  store(lanes, value);
  for (size_t i = 0; i < kWideLanes; ++i) lanes[i] = __builtin_sqrt(lanes[i]);
  return load(lanes);
}
#endif
#if !defined(__AVX512F__)
// True if an element is above the limit.
RL_INLINE bool any_beyond(F64 value, double limit) {
  double lanes[kWideLanes];
  store(lanes, value);
  bool beyond = false;
  for (size_t i = 0; i < kWideLanes; ++i) beyond |= lanes[i] > limit;
  return beyond;
}
#endif
RL_INLINE I64 minus(I64 a, I64 b) { return (I64)((U64)a - (U64)b); }
RL_INLINE I64 plus(I64 a, I64 b) { return (I64)((U64)a + (U64)b); }
RL_INLINE I64 shifted_left(I64 a, int places) { return (I64)((U64)a << places); }
RL_INLINE I64 shifted_right(I64 a, int places) { return (I64)((U64)a >> places); }
RL_INLINE I64 splat(int64_t value) { return value - I64{}; }

// Integers of up to 51 bits and doubles, by way of a double whose low bits are the integer: AVX2 has neither
// the conversions nor an arithmetic shift of 64 bits.
RL_INLINE F64 to_double(I64 value) {
  return from_bits(plus(value, bits(splat(kWideRounder)))) - kWideRounder;
}
RL_INLINE I64 to_integer(F64 shifted) { return minus(bits(shifted), bits(splat(kWideRounder))); }

// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
RL_INLINE F64 series(F64, double c0) { return splat(c0); }
template <class... Rest>
RL_INLINE F64 series(F64 x, double c0, Rest... rest) {
  return series(x, rest...) * x + c0;
}

// The same in two chains of even and odd powers, which take half the time in a long series.
struct WideChains {
  F64 even;
  F64 odd;
};
RL_INLINE WideChains chains(F64, double c0) { return {splat(c0), splat(0.0)}; }
RL_INLINE WideChains chains(F64, double c0, double c1) { return {splat(c0), splat(c1)}; }
template <class... Rest>
RL_INLINE WideChains chains(F64 square, double c0, double c1, Rest... rest) {
  const WideChains higher = chains(square, rest...);
  return {higher.even * square + c0, higher.odd * square + c1};
}
template <class... Coefficients>
RL_INLINE F64 long_series(F64 x, Coefficients... coefficients) {
  const WideChains both = chains(x * x, coefficients...);
  return both.even + x * both.odd;
}

// ln 2 in two parts; the first has 32 bits, so that its products with exponents are exact.
inline constexpr double kWideLn2High = 6.93147180369123816490e-01;
inline constexpr double kWideLn2Low = 1.90821492927058770002e-10;

// e^r = 1 + r + r^2 wide_exp_tail(r) for |r| <= ln(2) / 2.
RL_INLINE F64 wide_exp_tail(F64 r) {
  return series(r, 0.5, 0x1.5555555555556p-3, 0x1.5555555553d68p-5, 0x1.11111111109b5p-7,
                0x1.6c16c17889fd3p-10, 0x1.a01a01a7c2f89p-13, 0x1.a019b91463588p-16, 0x1.71de0db2d4e97p-19,
                0x1.28917ccaf39d3p-22, 0x1.af389f20208c6p-26);
}

// value 2^n, rounded once, for an integer n from -2000 to 2000: by two factors that are normal. `shifted` is
// n + kWideRounder.
RL_INLINE F64 scaled(F64 value, F64 shifted) {
  const I64 both = to_integer(shifted + 2046.0);
  const I64 first = shifted_right(both, 1);
  return value * from_bits(shifted_left(first, 52)) * from_bits(shifted_left(minus(both, first), 52));
}

// r and n + kWideRounder of x = n ln 2 + r.
struct WideReduced {
  F64 r;
  F64 shifted;
};
RL_INLINE WideReduced reduce_exponent(F64 x) {
  const F64 shifted = x * 1.44269504088896338700 + kWideRounder;
  const F64 n = shifted - kWideRounder;
  return {(x - n * kWideLn2High) - n * kWideLn2Low, shifted};
}

RL_INLINE F64 exp_of_reduced(F64 r, F64 shifted) {
  return scaled((r * r) * wide_exp_tail(r) + r + 1.0, shifted);
}

// Clamped to where the result is 0 or infinite; NaN passes, since comparisons with it are false.
RL_INLINE F64 clamped_exponent(F64 x, double low, double high) {
  x = select(x < low, splat(low), x);
  return select(x > high, splat(high), x);
}

RL_INLINE F64 exp(F64 x) {
  const WideReduced parts = reduce_exponent(clamped_exponent(x, -746, 710));
  return exp_of_reduced(parts.r, parts.shifted);
}
RL_INLINE F64 exp2(F64 x) {
  const F64 within = clamped_exponent(x, -1080, 1025);
  const F64 shifted = within + kWideRounder;
  return exp_of_reduced((within - (shifted - kWideRounder)) * 0.69314718055994530942, shifted);
}

// 2^n (e^r - 1) + (2^n - 1), halved first so that 2^n does not overflow. From -38 down the result is -1.
RL_INLINE F64 expm1(F64 x) {
  const WideReduced parts = reduce_exponent(clamped_exponent(x, -40, 710));
  const F64 r = parts.r;
  const F64 half = scaled(splat(0.5), parts.shifted);
  const F64 result = 2.0 * (half * ((r * r) * wide_exp_tail(r) + r) + (half - 0.5));
  return select(x == 0.0, x, result);
}

// x = (1 + f) 2^e, with 1 + f from sqrt(1/2) to sqrt(2). Positive normal x; e as a double.
struct WideLogParts {
  F64 f;
  F64 e;
};
RL_INLINE I64 wide_exponent_bits(F64 x) {
  const I64 root = splat(int64_t{0x3fe6a09e667f3bcd});  // the pattern of sqrt(1/2)
  return minus(bits(x), root) & ~((int64_t{1} << 52) - 1);
}
RL_INLINE WideLogParts log_parts(F64 x) {
  const M64 tiny = x < 0x1p-1022;
  const F64 normal = select(tiny, x * 0x1p54, x);
  const I64 exponent = wide_exponent_bits(normal);
  // The upper twelve bits are a signed number.
  const F64 signed_bits = to_double(shifted_right(exponent, 52) ^ 2048) - 2048.0;
  const F64 e = signed_bits - select(tiny, splat(54.0), splat(0.0));
  return {from_bits(minus(bits(normal), exponent)) - 1.0, e};
}

// log(1 + f) - f + f^2 / 2, for the sums below, which add small terms first.
RL_INLINE F64 wide_log_tail(F64 f) {
  const F64 s = f / (2.0 + f);
  const F64 z = s * s;
  const F64 r = z * series(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                           2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                           1.479819860511658591e-01);
  return s * (0.5 * f * f + r);
}
RL_INLINE F64 log_of_parts(F64 f, F64 e, F64 low) {
  return e * kWideLn2High - ((0.5 * f * f - (wide_log_tail(f) + (e * kWideLn2Low + low))) - f);
}

// The results of logarithms at 0, below it, and for infinity and NaN.
RL_INLINE F64 with_log_cases(F64 result, F64 x) {
  result = select(x < kWideInfinity, result, x);
  result = select(x == 0.0, splat(-kWideInfinity), result);
  return select(x < 0.0, splat(kWideNan), result);
}

RL_INLINE F64 log(F64 x) {
  const WideLogParts parts = log_parts(x);
  return with_log_cases(log_of_parts(parts.f, parts.e, splat(0.0)), x);
}

// The logarithm of the mantissa times 1 / ln(base), and the exponent's part: exact for powers of 2 in log2.
RL_INLINE F64 log2(F64 x) {
  const WideLogParts parts = log_parts(x);
  const F64 of_mantissa = log_of_parts(parts.f, splat(0.0), splat(0.0));
  return with_log_cases(parts.e + of_mantissa * 1.44269504088896340736, x);
}
RL_INLINE F64 log10(F64 x) {
  const WideLogParts parts = log_parts(x);
  // log10(2) in two parts; the first has 40 bits.
  constexpr double kHigh = 3.01029995663611771306e-01;
  constexpr double kLow = 3.69423907715893078616e-13;
  const F64 of_mantissa = log_of_parts(parts.f, splat(0.0), splat(0.0));
  return with_log_cases(parts.e * kHigh + (of_mantissa * 4.34294481903251816668e-01 + parts.e * kLow), x);
}

// log(1 + x), by the logarithm of the rounded sum and a correction for its rounding error.
RL_INLINE F64 log1p(F64 x) {
  const F64 sum = 1.0 + x;
  const WideLogParts parts = log_parts(sum);
  // The error of the sum: of its smaller operand.
  const F64 lost = select(x > 1.0, 1.0 - (sum - x), x - (sum - 1.0)) / sum;
  F64 result = log_of_parts(parts.f, parts.e, lost);
  result = select(sum < kWideInfinity, result, x);
  result = select(x == -1.0, splat(-kWideInfinity), result);
  result = select(x < -1.0, splat(kWideNan), result);
  return select(absolute(x) < 0x1p-54, x, result);
}

// The angle minus the nearest multiple of pi/2, as a sum, and that multiple's number in the low bits.
struct WideAngle {
  F64 angle;
  F64 low;
  I64 quarter;
};
// Parts of pi/2 with 33 bits: products with up to 20 bits are exact.
RL_INLINE WideAngle reduce_wide_angle(F64 x) {
  const F64 shifted = x * 6.36619772367581382433e-01 + kWideRounder;
  const F64 n = shifted - kWideRounder;
  const F64 first = x - n * 1.57079632673412561417e+00;
  const F64 second = n * 6.07710050630396597660e-11;
  const F64 most = first - second;
  const F64 lost = (first - most) - second;
  const F64 last = n * 2.02226624879595063154e-21 - lost;
  const F64 angle = most - last;
  return {angle, (most - angle) - last, bits(shifted)};
}
// Sine and cosine of angle + low.
RL_INLINE F64 wide_sine(F64 x, F64 low) {
  const F64 z = x * x;
  const F64 v = z * x;
  const F64 r = series(z, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                       -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  return x - ((z * (0.5 * low - v * r) - low) - v * -1.66666666666666324348e-01);
}
RL_INLINE F64 wide_cosine(F64 x, F64 low) {
  const F64 z = x * x;
  const F64 r =
      z * series(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                 -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11);
  const F64 half = 0.5 * z;
  const F64 most = 1.0 - half;
  return most + (((1.0 - most) - half) + (z * r - x * low));
}
RL_INLINE F64 sine_of(const WideAngle& parts, I64 quarter) {
  const F64 sine = wide_sine(parts.angle, parts.low);
  const F64 cosine = wide_cosine(parts.angle, parts.low);
  const F64 value = select((quarter & 1) != 0, cosine, sine);
  return from_bits(bits(value) ^ (shifted_left(quarter, 62) & INT64_MIN));
}
RL_INLINE F64 sin(F64 x) {
  const WideAngle parts = reduce_wide_angle(x);
  return select(x == 0.0, x, sine_of(parts, parts.quarter));
}
RL_INLINE F64 cos(F64 x) {
  const WideAngle parts = reduce_wide_angle(x);
  return sine_of(parts, plus(parts.quarter, splat(int64_t{1})));
}
// Sine over cosine, or minus cosine over sine in odd quarters.
RL_INLINE F64 tan(F64 x) {
  const WideAngle parts = reduce_wide_angle(x);
  const F64 sine = wide_sine(parts.angle, parts.low);
  const F64 cosine = wide_cosine(parts.angle, parts.low);
  const M64 odd = (parts.quarter & 1) != 0;
  return select(x == 0.0, x, select(odd, -cosine, sine) / select(odd, sine, cosine));
}

// The arctangent of over / under for 0 <= over <= under, under > 0: with q = over / under above tan(pi/8) as
// pi/4 + atan((over - under) / (over + under)).
RL_INLINE F64 arctangent(F64 over, F64 under) {
  const M64 above = over > 0.41421356237309503 * under;
  const F64 q = select(above, over - under, over) / select(above, over + under, under);
  const F64 z = q * q;
  const F64 tail =
      z * series(z, 3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
                 -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
                 6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
                 -3.65315727442169155270e-02, 1.62858201153657823623e-02);
  constexpr double kQuarter = 7.85398163397448278999e-01;  // pi/4, and the rest of it
  constexpr double kRest = 3.06161699786838301793e-17;
  return select(above, kQuarter - ((q * tail - kRest) - q), q - q * tail);
}

inline constexpr double kHalfPi = 1.57079632679489655800e+00;
inline constexpr double kHalfPiRest = 6.12323399573676603587e-17;

RL_INLINE F64 atan(F64 x) {
  const F64 a = absolute(x);
  const M64 large = a > 1.0;
  const F64 small_angle = arctangent(select(large, splat(1.0), a), select(large, a, splat(1.0)));
  const F64 angle = select(large, kHalfPi - (small_angle - kHalfPiRest), small_angle);
  return select(x != x, x, copy_sign(angle, x));
}

// Signs of zeros count, and infinite points lie on the axes and diagonals, as in C's atan2.
RL_INLINE F64 atan2(F64 y, F64 x) {
  F64 over = absolute(y);
  F64 under = absolute(x);
  // Both infinite: a diagonal. Both 0: the angle of (1, 0).
  const M64 diagonal = (over == kWideInfinity) & (under == kWideInfinity);
  over = select(diagonal, splat(1.0), over);
  under = select(diagonal, splat(1.0), under);
  under = select((over == 0.0) & (under == 0.0), splat(1.0), under);
  // The sum of both must not overflow.
  const F64 scale = select((over > 0x1p1000) | (under > 0x1p1000), splat(0x1p-100), splat(1.0));
  over = over * scale;
  under = under * scale;
  const M64 steep = over > under;
  F64 angle = arctangent(select(steep, under, over), select(steep, over, under));
  angle = select(steep, kHalfPi - (angle - kHalfPiRest), angle);
  const M64 left = bits(x) < 0;
  angle = select(left, 2 * kHalfPi - (angle - 2 * kHalfPiRest), angle);
  return select((x == x) & (y == y), copy_sign(angle, y), x + y);
}

// asin(a) for 0 <= a <= 1/2, and `square` a^2; the polynomial is fitted as the polynomials of erf below are,
// with an error of 2^-59.
RL_INLINE F64 small_arcsine(F64 a, F64 square) {
  const F64 tail =
      long_series(square, 0x1.5555555555578p-3, 0x1.333333332dee1p-4, 0x1.6db6db722d35dp-5,
                  0x1.f1c71a8b1760bp-6, 0x1.6e8bdff2382cbp-6, 0x1.1c49dd573bb8ep-6, 0x1.ca215196b620ap-7,
                  0x1.757730f444b51p-7, 0x1.618c7616ef859p-7, 0x1.e1448f820bd4dp-9, 0x1.65080a6f897f7p-6,
                  -0x1.59fe07f6c0a76p-6, 0x1.0be67aee727fdp-5);
  return a + (a * square) * tail;
}
// Beyond 1/2 by asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)). NaN outside of [-1, 1], where the root is NaN.
RL_INLINE F64 asin(F64 x) {
  const F64 a = absolute(x);
  const M64 small = a <= 0.5;
  const F64 square = select(small, a * a, 0.5 - 0.5 * a);
  const F64 value = small_arcsine(select(small, a, square_root(square)), square);
  const F64 angle = select(small, value, kHalfPi - (2.0 * value - kHalfPiRest));
  return select(x != x, x, copy_sign(angle, x));
}
RL_INLINE F64 acos(F64 x) {
  const F64 a = absolute(x);
  const M64 small = a <= 0.5;
  const F64 square = select(small, a * a, 0.5 - 0.5 * a);
  const F64 value = small_arcsine(select(small, a, square_root(square)), square);
  const F64 middle = kHalfPi - (copy_sign(value, x) - kHalfPiRest);
  const F64 outer = select(x < 0.0, 2 * kHalfPi - (2.0 * value - 2 * kHalfPiRest), 2.0 * value);
  return select(small, middle, outer);
}

// With e = e^a - 1: sinh(a) = (e + e / (e + 1)) / 2. From 22 on e^a / 2, as a square so that it overflows
// only where the result does.
RL_INLINE F64 sinh(F64 x) {
  const F64 a = absolute(x);
  const F64 e = expm1(a);
  const F64 root = exp(0.5 * a);
  const F64 large = (0.5 * root) * root;
  const F64 value = select(a < 22.0, 0.5 * (e + e / (e + 1.0)), large);
  return select(x != x, x, copy_sign(value, x));
}
RL_INLINE F64 cosh(F64 x) {
  const F64 a = absolute(x);
  const F64 e = exp(select(a < 22.0, a, 0.5 * a));
  return select(a < 22.0, 0.5 * e + 0.5 / e, (0.5 * e) * e);
}
// e / (e + 2) with e = e^(2 a) - 1; from 20 on the result is 1.
RL_INLINE F64 tanh(F64 x) {
  const F64 a = absolute(x);
  const F64 e = expm1(2.0 * select(a > 20.0, splat(20.0), a));
  const F64 value = e / (e + 2.0);
  return select(x != x, x, copy_sign(value, x));
}

// log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); from 2^28 on log(2 a).
RL_INLINE F64 asinh(F64 x) {
  const F64 a = absolute(x);
  const M64 large = a > 0x1p28;
  const F64 b = select(large, splat(1.0), a);
  const F64 square = b * b;
  const F64 inner = b + square / (1.0 + square_root(square + 1.0));
  const F64 value = select(large, log(a) + 6.93147180559945286227e-01, log1p(inner));
  return select(x != x, x, copy_sign(value, x));
}
// log1p(t + sqrt(2 t + t^2)) with t = x - 1; NaN below 1.
RL_INLINE F64 acosh(F64 x) {
  const M64 large = x > 0x1p28;
  const F64 t = select(large, splat(1.0), x - 1.0);
  const F64 value = log1p(t + square_root(2.0 * t + t * t));
  return select(large, log(x) + 6.93147180559945286227e-01, select(x < 1.0, splat(kWideNan), value));
}
// log1p(2 a / (1 - a)) / 2.
RL_INLINE F64 atanh(F64 x) {
  const F64 a = absolute(x);
  const F64 value = 0.5 * log1p((a + a) / (1.0 - a));
  return select(a > 1.0, splat(kWideNan), select(x != x, x, copy_sign(value, x)));
}

RL_INLINE F64 sigmoid(F64 x) {
  const F64 e = exp(-absolute(x));
  return select(x < 0.0, e, splat(1.0)) / (e + 1.0);
}

// -(max(-x, 0) + log(1 + exp(-|x|))): the exponential does not overflow, and a large x gives -0.
RL_INLINE F64 log_sigmoid(F64 x) { return -(select(x > 0.0, splat(0.0), -x) + log1p(exp(-absolute(x)))); }

// erf(a) for 0 <= a <= 1. The polynomial is fitted to erf(a) / a - 1 in 50 digits (mpmath), with an error of
// 2^-57.
RL_INLINE F64 small_erf(F64 a) {
  const F64 tail =
      series(a * a, 0x1.06eba8214db68p-3, -0x1.812746b0379c2p-2, 0x1.ce2f21a04100fp-4, -0x1.b82ce312060bap-6,
             0x1.565bccfa969d7p-8, -0x1.c02db07266998p-11, 0x1.f9a2bf6766f9fp-14, -0x1.f4ca93e1cef64p-17,
             0x1.b982745ca3876p-20, -0x1.5c16bba747237p-23, 0x1.d7838e565f8c5p-27, -0x1.acdd0d34b39f1p-31);
  return a + a * tail;
}

// Above 1 as 1 - e^-q with q = -log(erfc(a)), whose polynomial needs the fewer digits the larger a is; from
// 5.95 on the result is 1.
RL_INLINE F64 erf(F64 x) {
  const F64 a = absolute(x);
  const F64 most = select(a > 5.95, splat(5.95), a);
  const F64 q = long_series(most, 0x1.a3ef93eaef9cep-22, 0x1.20dd316dd1f82p+0, 0x1.45f58de579711p-1,
                            0x1.a4b93ecfeddd7p-4, -0x1.37822d527b168p-6, -0x1.8e1a99b7dffd7p-12,
                            0x1.ede393e39c2fdp-10, -0x1.86b0a7909c592p-11, 0x1.f3a1bb39e9f4ep-14,
                            0x1.d7d49574b78d0p-16, -0x1.b226959320a09p-16, 0x1.420ff5dee7678p-17,
                            -0x1.3c216f2af6bacp-19, 0x1.bb03ad0c425e5p-22, -0x1.baf1b1d5d5a58p-25,
                            0x1.2e4499394a210p-28, -0x1.fa7829116acc6p-33, 0x1.89ac99fa7b3f7p-38);
  const WideReduced parts = reduce_exponent(-q);
  const F64 far = 1.0 - exp_of_reduced(parts.r, parts.shifted);
  return copy_sign(select(most > 1.0, far, small_erf(most)), x);
}

// (1 + 2 a) erfcx(a) = 1 + p(t) with t = (a - 3.5) / (a + 3.5), for a >= 0.46; erfcx(a) is e^(a^2) erfc(a).
// Fitted as above, with an error of 2^-56. The form is that of Shepherd and Laframboise, "Chebyshev
// approximation of (1 + 2x) exp(x^2) erfc x", 1981.
RL_INLINE F64 wide_erfcx_tail(F64 a) {
  return long_series(
      (a - 3.5) / (a + 3.5), 0x1.f054cd07748a0p-3, -0x1.1ebd220ea5931p-3, -0x1.59e2c284b1690p-7,
      0x1.8f702ec6b2963p-4, -0x1.d76830c350e48p-4, 0x1.68610604844a6p-4, -0x1.8ff5ef7740a67p-5,
      0x1.38ec666bbcea8p-6, -0x1.143c4c7989b33p-8, -0x1.3cf35dadbf74dp-12, 0x1.27e659a9a094cp-11,
      -0x1.fdaa05ad8168cp-14, -0x1.66deaece25b02p-15, 0x1.9715f3374b140p-16, 0x1.37cfc99addb3cp-19,
      -0x1.00711c92bcac1p-18, -0x1.212b5af044a0dp-25, 0x1.47035ab6fee60p-21, -0x1.71b703db7415bp-26,
      -0x1.ab8cd0355623fp-24, 0x1.678ebaee729e5p-27, 0x1.ab9dab38b1997p-27, -0x1.ab7f2b026e3f0p-29);
}

// value^2 as a rounded square and the rest of it: the upper 26 bits of `value` have an exact square, and
// their product with the lower ones rounds by 2^-53 of the rest.
struct WideSquare {
  F64 high;
  F64 low;
};
RL_INLINE WideSquare exact_square(F64 value) {
  const F64 upper = from_bits(bits(value) & ~((int64_t{1} << 27) - 1));
  const F64 lower = value - upper;
  const F64 first = upper * upper;
  const F64 rest = lower * (value + upper);
  const F64 high = first + rest;
  return {high, (first - high) + rest};
}

// From 1/2 on e^(-a^2) (1 + p) / (1 + 2 a), with e^(-a^2) = 2^n (1 + u): 1 / (1 + 2 a) is rounded to v with
// relative error e, and the sum v + v (u + p + e + ...) once. Beyond 28 the result is 0.
RL_INLINE F64 erfc(F64 x) {
  const F64 a = select(absolute(x) > 28.0, splat(28.0), absolute(x));
  const WideSquare square = exact_square(a);
  const WideReduced parts = reduce_exponent(-square.high);
  const F64 r = parts.r - square.low;
  const F64 u = (r * r) * wide_exp_tail(r) + r;
  const F64 p = wide_erfcx_tail(a);
  const F64 under = 1.0 + 2.0 * a;
  const F64 lost = 2.0 * a - (under - 1.0);
  const F64 inverse = 1.0 / under;
  const F64 error = (1.0 - under * inverse) - lost * inverse;
  const F64 inner = u + (p + u * p);
  const F64 far = scaled(inverse + inverse * (inner + (error + inner * error)), parts.shifted);
  const F64 near = small_erf(a);
  const M64 negative = x < 0.0;
  const F64 size = select(a > 0.5, select(negative, 2.0 - far, far), 1.0 - select(negative, -near, near));
  return select(x != x, x, size);
}

// e^(x^2) erfc(x): (1 + p) / (1 + 2 x) from 1/2 on, e^(x^2) (1 - erf(x)) within, and 2 e^(x^2) less the value
// at -x below. From about -26.6 down it overflows.
RL_INLINE F64 erfcx(F64 x) {
  const F64 a = absolute(x);
  const F64 bounded = select(a > 28.0, splat(28.0), a);
  const WideSquare square = exact_square(bounded);
  const WideReduced parts = reduce_exponent(square.high);
  const F64 power = exp_of_reduced(parts.r + square.low, parts.shifted);
  // Neither side of the quotient overflows: t takes a bounded a.
  const F64 most = select(a > 0x1p60, splat(0x1p60), a);
  const F64 far = (0.5 + 0.5 * wide_erfcx_tail(most)) / (0.5 + a);
  const F64 near = power * (1.0 - select(a > 0.5, splat(0.5), copy_sign(small_erf(bounded), x)));
  return select(x > 0.5, far, select(x < -0.5, 2.0 * power - far, near));
}

// log(gamma(x)) for x > 0. Up to 8.5 by the recurrence from x = 2 + k + t with |t| <= 1/2:
//
//   lgamma(2 + t) = t (1 - Euler's constant + P(t)), to which log((x - 1) ... (x - k)) is added, or from
//   which log(x) or log(x (x + 1)) is taken for k = -1 or -2
//
// so that the zeros at 1 and 2 keep their digits. P is fitted like the polynomials above, with an error of
// 2^-59. From 8.5 on by Stirling's series.
RL_INLINE F64 positive_lgamma(F64 x) {
  const M64 large = x >= 8.5;
  const F64 bounded = select(large, splat(8.0), x);
  F64 t = select(bounded < 1.5, select(bounded < 0.5, bounded, bounded - 1.0), bounded - 2.0);
  F64 product = select(bounded < 1.5, select(bounded < 0.5, bounded * (bounded + 1.0), bounded), splat(1.0));
  for (int k = 1; k <= 6; ++k) {
    const M64 steps = bounded >= k + 1.5;
    product = select(steps, product * (bounded - static_cast<double>(k)), product);
    t = select(steps, bounded - static_cast<double>(k + 2), t);
  }
  const F64 tail = long_series(
      t, 0x1.7a52181d1a0c0p-62, 0x1.4a34cc4a60fa7p-2, -0x1.13e001a557616p-4, 0x1.51322ac7d8008p-6,
      -0x1.e404fc2188929p-8, 0x1.7add6eae55bd9p-9, -0x1.38ac5c3097607p-10, 0x1.0b36af366ba70p-11,
      -0x1.d3fd4946e8aabp-13, 0x1.a127dc310ee9dp-14, -0x1.78defd12e8b1dp-15, 0x1.5806f401f8c8bp-16,
      -0x1.3ca94f64d3e5dp-17, 0x1.263ebb11936c7p-18, -0x1.131c075718b2fp-19, 0x1.ee161bbd128e5p-21,
      -0x1.c3153d8a68388p-22, 0x1.2b09d53aec837p-22, -0x1.339c149c5233bp-23);
  const F64 near = t * (tail + 0x1.b0ee6072093cep-2);
  const F64 logarithm = log(select(large, x, product));
  const F64 inverse = 1.0 / x;
  // B(2j) / (2j (2j - 1)).
  const F64 rest = inverse * series(inverse * inverse, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                    1.0 / 1188, -691.0 / 360360, 1.0 / 156);
  // (x - 1/2) log(x) - x + log(2 pi) / 2
  const F64 far = (x - 0.5) * (logarithm - 1.0) + (rest + 4.18938533204672741780e-01);
  const F64 value = select(large, far, near + select(bounded < 1.5, -logarithm, logarithm));
  return select(x == kWideInfinity, x, value);
}
// Negative x by reflection: log(pi / (a |sin(pi a)|)) - lgamma(a), with a = -x, and the sine of the distance
// to the nearest integer. Near the zeros at negative x, which it has by a difference, the error is 1e-15.
RL_INLINE F64 lgamma(F64 x) {
  const F64 a = absolute(x);
  const F64 value = positive_lgamma(a);
  const F64 whole = select(a < 0x1p52, (a + 0x1p52) - 0x1p52, a);
  const F64 sine = absolute(sin(3.14159265358979311600 * select(a < 0x1p52, a - whole, splat(0.0))));
  const F64 reflected = -log(sine * a * 0.31830988618379067154) - value;
  // Near 0, where the product underflows, both signs of x have the same result.
  const M64 negative = x < -0x1p-100;
  return select(negative & (sine == 0.0), splat(kWideInfinity), select(negative, reflected, value));
}

// As the quantile of the normal distribution, at 1/2 + x / 2 (kernels/ukernel/normal_quantile.h). The far
// tail is rare: a branch.
struct WideFraction {
  F64 over;
  F64 under;
};
RL_INLINE WideFraction fraction(F64 x, const NormalQuantile& of) {
  WideFraction parts = {splat(of.above[7]), splat(of.below[7])};
  for (int k = 7; k-- > 0;) {
    parts.over = parts.over * x + of.above[k];
    parts.under = parts.under * x + of.below[k];
  }
  return parts;
}
RL_INLINE WideFraction select(M64 mask, WideFraction yes, WideFraction no) {
  return {select(mask, yes.over, no.over), select(mask, yes.under, no.under)};
}
RL_INLINE F64 erfinv(F64 x) {
  const F64 a = absolute(x);
  const F64 q = 0.5 * a;
  const M64 outer = q > 0.425;
  const WideFraction central = fraction(0.180625 - q * q, kQuantileCentral);
  // Within (0, 1) wherever it counts; a of 1 or more is replaced below.
  const F64 rest = (1.0 - a) * 0.5;
  const F64 r = square_root(-log(select(outer & (a < 1.0), rest, splat(0.125))));
  WideFraction tail = fraction(r - 1.6, kQuantileTail);
  if (__builtin_expect(any_beyond(r, 5), 0))
    tail = select(r > 5.0, fraction(r - 5.0, kQuantileFarTail), tail);
  const WideFraction parts = select(outer, tail, central);
  F64 value = (parts.over / parts.under) * (0.70710678118654752440 * select(outer, splat(1.0), q));
  value = select(a == 1.0, splat(kWideInfinity), value);
  return select(a > 1.0, splat(kWideNan), select(x != x, x, copy_sign(value, x)));
}

// x Phi(x) as in PyTorch, whose sum cancels in the lower tail; -0 where the sum is 0, and for -infinity.
RL_INLINE F64 gated(F64 x, F64 gate) { return select(gate == 0.0, splat(-0.0), (0.5 * x) * gate); }
RL_INLINE F64 gelu(F64 x) { return gated(x, 1.0 + erf(x * 0.70710678118654752440)); }
RL_INLINE F64 gelu_tanh(F64 x) {
  return gated(x, 1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); from 40 on the result is x.
RL_INLINE F64 mish(F64 x) {
  const F64 e = exp(select(x > 40.0, splat(40.0), x));
  const F64 n = e * (e + 2.0);
  return x * (n / (n + 2.0));
}

// log(x / (1 - x)).
RL_INLINE F64 logit(F64 x) { return log(x / (1.0 - x)); }

// log(e^a + e^b), and the same of base 2. The larger one is taken out; the difference of equal infinities
// would be NaN.
RL_INLINE F64 log_add(F64 a, F64 b) {
  const F64 sum = select(a < b, b, a) + log1p(exp(-absolute(a - b)));
  return select((a == b) & (absolute(a) == kWideInfinity), b, sum);
}
RL_INLINE F64 log2_add(F64 a, F64 b) {
  const F64 sum = select(a < b, b, a) + log1p(exp2(-absolute(a - b))) * 1.44269504088896340736;
  return select((a == b) & (absolute(a) == kWideInfinity), b, sum);
}

// Halves to even: adding 2^52 drops the fraction.
RL_INLINE F64 round_half_to_even(F64 x) {
  const F64 a = absolute(x);
  return copy_sign(select(a < 0x1p52, (a + 0x1p52) - 0x1p52, a), x);
}
RL_INLINE F64 floor(F64 x) {
  const F64 near = round_half_to_even(x);
  return copy_sign(near - select(near > x, splat(1.0), splat(0.0)), x);
}
RL_INLINE F64 ceil(F64 x) {
  const F64 near = round_half_to_even(x);
  return copy_sign(near + select(near < x, splat(1.0), splat(0.0)), x);
}
RL_INLINE F64 trunc(F64 x) { return copy_sign(floor(absolute(x)), x); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
