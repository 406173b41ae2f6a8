// SPDX-License-Identifier: BSD-3-Clause
// Mathematical functions of F32, for sources that are compiled for each variant.
// kernels/ukernel/vector_math.h states their errors; tests/kernels/ukernel/fit_polynomials.py fits the
// minimax polynomials and rational functions. Methods:
//
//   exp, expm1      Cody-Waite reduction x = n ln 2 + r, polynomial of degree 6 for e^r, exponent n in bits;
//                   a table of 32 roots of 2 where x86/vector_math.h has it
//   log, log1p      x = (1 + f) 2^e with 1 + f near 1, polynomial of degree 10 for log(1 + f)
//   log2, log10     the same, with the factor in two parts
//   sin, cos, tan   Cody-Waite for |x| <= kLarge, Payne-Hanek beyond; polynomials on [-pi/4, pi/4]
//   asin, acos      polynomial up to 1/2, half angles beyond
//   atan            reduction to [-tan(pi/8), tan(pi/8)], polynomial of degree 11
//   tanh            expm1 and a quotient
//   erf, erfc       polynomial near 0, exponential further away
//   erfinv          polynomials of the logarithm of 1 - x^2
//   gelu            rational function for the normal distribution
//   pow             logarithm in double, exponential in float
//   others          from these
//
// Nothing here relies on fused multiply-adds, which some targets lack: constants whose products must be exact
// are short. There are no branches on values, except for angles beyond kLarge: special cases are computed
// beside the general one and selected by masks. NaN arguments give NaN (but see pow), because comparisons
// with NaN are false and the selections then keep a value computed from the argument.
#pragma once

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Vectors that loops over functions of few instructions take at a time.
#ifdef __OPTIMIZE_SIZE__
inline constexpr size_t kVectorsAtATime = 1;
#else
inline constexpr size_t kVectorsAtATime = 4;
#endif

inline constexpr float kInfinity = __builtin_inff();
inline constexpr float kNotANumber = __builtin_nanf("");
// ln 2 in two parts. The first has twelve bits, so that its products with exponents are exact.
inline constexpr float kLn2High = 0x1.63p-1f;
inline constexpr float kLn2Low = -0x1.bd0106p-13f;
constexpr float kLog2E = 0x1.715476p+0f;
// Added to a small value, it leaves the nearest integer in the low bits.
constexpr float kRounder = 0x1.8p23f;

// c0 + c1 x + c2 x^2 + ..., by Horner's rule: one multiply-add for each coefficient after the first. All
// steps depend on each other; the loops around it hide the latency by several vectors.
template <class V>
RL_INLINE V polynomial(V, float c0) {
  return V{} + c0;
}
template <class V, class... Rest>
RL_INLINE V polynomial(V x, float c0, Rest... rest) {
  return polynomial(x, rest...) * x + c0;
}

// Integer arithmetic on bit patterns, which wraps.
#if RL_VECTOR_BYTES > 4
using U32 = uint32_t __attribute__((vector_size(RL_VECTOR_BYTES)));
#else
using U32 = uint32_t;
#endif
// a - b and a << places, lane by lane. Signed overflow would be undefined, hence the casts.
RL_INLINE I32 minus(I32 a, I32 b) { return (I32)((U32)a - (U32)b); }
RL_INLINE I32 shifted_left(I32 a, int bits) { return (I32)((U32)a << bits); }

// The magnitude of one value with the sign of the other, also of zeros and NaN.
RL_INLINE F32 copy_sign(F32 magnitude, F32 sign) {
  return from_bits((bits(magnitude) & 0x7fffffff) | (bits(sign) & INT32_MIN));
}

// e^r = 1 + r + r^2 exp_tail(r) for |r| <= ln(2) / 2. Callers add the small terms first, so that only the
// last addition has a rounding error of the result's size. By Estrin's scheme: callers have r^2, and a chain
// of three multiply-adds instead of four keeps more vectors in flight.
RL_INLINE F32 exp_tail(F32 r, F32 square) {
  const F32 low = polynomial(r, 0.5f, 0x1.5554b0p-3f);
  const F32 high = polynomial(r, 0x1.5554c8p-5f, 0x1.122814p-7f);
  return (square * 0x1.6d724ep-10f + high) * square + low;
}
// e^r - 1 for |r| <= ln(2) / 2.
RL_INLINE F32 expm1_of_rest(F32 r) {
  const F32 square = r * r;
  return square * exp_tail(r, square) + r;
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#if defined(__AVX512F__)
#define RL_SCALES_BY_POWERS 1
#include "kernels/ukernel/x86/vector_math.h"
#else
#define RL_SCALES_BY_POWERS 0
#endif

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Adding it to an integer n leaves n + 254 in the low bits: the sum of the exponents of two factors of 2^n,
// neither of which overflows.
inline constexpr float kExponents = kRounder + 254;

// e^r 2^n for |r| <= ln(2) / 2 and n from -252 to 254, with shifted = n + kExponents. exp() passes n from
// -150 to 128, pow() from -160 to 140. Subnormal results are rounded once. 2^n itself may be too large or too
// small for float32, so that it is split, unless the processor scales by powers of two with the same result:
//
//   n + 254 = first + (n + 254 - first),  first = (n + 254) / 2,  2^n = 2^(first - 127) * 2^(n + 127 - first)
//
// The product with the first power is normal and exact.
RL_INLINE F32 scaled_exp(F32 r, F32 shifted) {
  const F32 power = expm1_of_rest(r) + 1.0f;
#if RL_SCALES_BY_POWERS
  return scaled(power, shifted - kExponents);
#else
  const I32 both = bits(shifted);
  const I32 first = both >> 1;
  return power * from_bits(shifted_left(first, 23)) * from_bits(shifted_left(minus(both, first), 23));
#endif
}

#if !RL_SCALES_BY_POWERS
// e^x. Selects 0 for large negative x instead of letting the product underflow, which is slow on x86: below
// -104, e^x is less than half of the least subnormal. Arguments of 89 and more overflow to infinity, as do
// those from about 88.72 on.
//
//   n = round(x / ln 2),  r = (x - n * kLn2High) - n * kLn2Low,  e^x = 2^n e^r
RL_INLINE F32 exp(F32 x) {
  const M32 vanishes = x < -104.0f;
  x = select(vanishes, splat(0.0f), at_most(x, 89.0f));
  const F32 shifted = x * kLog2E + kExponents;
  const F32 n = shifted - kExponents;
  return select(vanishes, splat(0.0f), scaled_exp((x - n * kLn2High) - n * kLn2Low, shifted));
}

RL_INLINE F32 reciprocal_root(F32 x) { return 1.0f / square_root(x); }
#endif

// 2^x by the exact reduction x = n + r / ln 2. From 128 on the result overflows; below -151 it is 0, as at
// the bound.
RL_INLINE F32 exp2(F32 x) {
  const F32 within = at_least(at_most(x, 128.0f), -151.0f);
  const F32 shifted = within + kExponents;
  return scaled_exp((within - (shifted - kExponents)) * 0x1.62e43p-1f, shifted);
}

// exp() for x from -87 to 89, where the factor 2^n is normal or infinite: one product with a power of two
// instead of two, and no selection. From about 88.38 on n is 128 and 2^n the pattern of infinity, which is
// the result.
RL_INLINE F32 exp_within(F32 x) {
  constexpr float kShift = kRounder + 127;
  const F32 shifted = x * kLog2E + kShift;
  const F32 n = shifted - kShift;
  const F32 r = (x - n * kLn2High) - n * kLn2Low;
  return (expm1_of_rest(r) + 1.0f) * from_bits(shifted_left(bits(shifted), 23));
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1). Adding the two terms loses no digits near 0, where e^x - 1 computed
// from e^x would. From -18 down the result rounds to -1. A zero is returned with its sign.
RL_INLINE F32 expm1(F32 x) {
  const F32 within = at_least(at_most(x, 89.0f), -18.0f);
  // The low bits hold the exponent of 2^(n - 1), which cannot overflow.
  constexpr float kShift = kRounder + 126;
  const F32 shifted = within * kLog2E + kShift;
  const F32 n = shifted - kShift;
  const F32 r = (within - n * kLn2High) - n * kLn2Low;
  const F32 half = from_bits(shifted_left(bits(shifted), 23));
  const F32 result = 2.0f * (half * expm1_of_rest(r) + (half - 0.5f));
  return select(x == 0.0f, x, result);
}

// log(1 + f) - f for 1 + f from 2/3 to 4/3: -f^2 / 2 + f^3 tail(f).
RL_INLINE F32 log_tail(F32 f) {
  const F32 square = f * f;
  const F32 tail = polynomial(f, 0x1.55550cp-2f, -0x1.fffe5ep-3f, 0x1.99ce34p-3f, -0x1.55b7eep-3f,
                              0x1.1ef264p-3f, -0x1.f03b80p-4f, 0x1.1defc4p-3f, -0x1.0e2bcep-3f);
  return square * (f * tail - 0.5f);
}

// log((1 + f) 2^e), as e ln 2 + f + log_tail(f). The product of e with the high part of ln 2 is exact; small
// terms are added first.
RL_INLINE F32 log_of_parts(F32 f, F32 e) { return e * kLn2High + (f + (log_tail(f) + e * kLn2Low)); }

// The exponent bits of x, such that x / 2^e is from 2/3 to 4/3. 0x3f2aaaab is the pattern of 2/3. The range
// around 1 keeps log(x) accurate near its zero: e is 0 there, and no terms cancel.
RL_INLINE I32 exponent_bits(F32 x) { return minus(bits(x), splat(int32_t{0x3f2aaaab})) & ~0x7fffff; }

// x = (1 + fraction) 2^exponent. Subnormal numbers are scaled by 2^23 first.
struct LogParts {
  F32 fraction;
  F32 exponent;
};
RL_INLINE LogParts log_parts(F32 x) {
  const M32 tiny = x < 0x1p-126f;
  const F32 normal = select(tiny, x * 0x1p23f, x);
  const I32 exponent = exponent_bits(normal);
  return {from_bits(minus(bits(normal), exponent)) - 1.0f,
          to_float(exponent >> 23) - select(tiny, splat(23.0f), splat(0.0f))};
}
// A logarithm of x that is exact for positive numbers. 0 of either sign gives -infinity, negative values give
// NaN, infinity gives itself.
RL_INLINE F32 with_limits(F32 result, F32 x) {
  result = select(x < kInfinity, result, x);
  result = select(x == 0.0f, splat(-kInfinity), result);
  return select(x < 0.0f, splat(kNotANumber), result);
}

RL_INLINE F32 log(F32 x) {
  const LogParts parts = log_parts(x);
  return with_limits(log_of_parts(parts.fraction, parts.exponent), x);
}

// log(1 + f) / ln 2 and log(1 + f) / ln 10, by parts of the factor whose first products are exact, or nearly
// so: f has 24 bits, its upper part 12.
RL_INLINE F32 log2(F32 x) {
  const LogParts parts = log_parts(x);
  const F32 tail = log_tail(parts.fraction);
  const F32 high = from_bits(bits(parts.fraction) & ~0xfff);
  const F32 rest = (parts.fraction - high) + tail;
  constexpr float kHigh = 0x1.715p+0f;  // 1 / ln 2
  constexpr float kLow = 0x1.1d94aep-14f;
  const F32 most = high * kHigh;
  const F32 least = rest * kLog2E + high * kLow;
  return with_limits(parts.exponent + (most + least), x);
}
RL_INLINE F32 log10(F32 x) {
  const LogParts parts = log_parts(x);
  const F32 tail = log_tail(parts.fraction);
  const F32 high = from_bits(bits(parts.fraction) & ~0xfff);
  const F32 rest = (parts.fraction - high) + tail;
  constexpr float kHigh = 0x1.bcap-2f;  // 1 / ln 10
  constexpr float kLow = 0x1.7b1526p-14f;
  constexpr float kTwoHigh = 0x1.344p-2f;  // ln 2 / ln 10
  constexpr float kTwoLow = 0x1.3509f8p-18f;
  const F32 most = high * kHigh;
  const F32 least = (rest * (kHigh + kLow) + high * kLow) + parts.exponent * kTwoLow;
  return with_limits(parts.exponent * kTwoHigh + (most + least), x);
}

// log(1 + x), by the logarithm of the rounded sum and a correction for its rounding error: with s = fl(1 +
// x), log(1 + x) = log(s + lost), and `lost` is added to the fraction of s. -1 gives -infinity, less than -1
// NaN; a zero is returned with its sign.
RL_INLINE F32 log1p(F32 x) {
  const F32 sum = 1.0f + x;
  const I32 exponent = exponent_bits(sum);
  // The rounding error of the sum. Its scale 2^-e is 0 for sums too large for it, where the error does not
  // matter.
  const F32 lost = x - (sum - 1.0f);
  const I32 scale = minus(splat(int32_t{0x3f800000}), exponent);
  const F32 f = (from_bits(minus(bits(sum), exponent)) - 1.0f) + lost * from_bits(scale & ~(scale >> 31));
  F32 result = log_of_parts(f, to_float(exponent >> 23));
  result = select(x < kInfinity, result, x);
  result = select(x == -1.0f, splat(-kInfinity), result);
  result = select(x < -1.0f, splat(kNotANumber), result);
  return select(x == 0.0f, x, result);
}

// min(x, 0) - log(1 + e^-|x|): the exponential is at most 1.
RL_INLINE F32 log_sigmoid(F32 x) { return -(at_least(-x, 0.0f) + log1p(exp(-absolute(x)))); }

// log(e^a + e^b) with the larger exponent factored out; equal infinities, whose difference is NaN, have 0.
RL_INLINE F32 log_add(F32 a, F32 b) {
  const F32 apart = select(a == b, splat(0.0f), -absolute(a - b));
  return select(a < b, b, a) + log1p(exp(apart));
}
// log2(2^a + 2^b).
RL_INLINE F32 log2_add(F32 a, F32 b) {
  const F32 apart = select(a == b, splat(0.0f), -absolute(a - b));
  return select(a < b, b, a) + log1p(exp2(apart)) * kLog2E;
}

// e / (e + 2) for e = e^(2 |x|) - 1, with e/2 = 2^(n - 1) (e^r - 1) + (2^(n - 1) - 1/2) as in expm1(). For
// large e the quotient damps the errors of e, so that one product reduces the argument. From 9.1 on the
// result rounds to 1. The sign is copied last: tanh is odd.
RL_INLINE F32 tanh(F32 x) {
  constexpr float kShift = kRounder + 126;
  constexpr float kLn2 = 0x1.62e43p-1f;
  const F32 a = at_most(absolute(x), 9.1f);
  const F32 twice = a + a;
  const F32 shifted = twice * kLog2E + kShift;
  const F32 r = twice - (shifted - kShift) * kLn2;
  const F32 half = from_bits(shifted_left(bits(shifted), 23));
  const F32 e = half * expm1_of_rest(r) + (half - 0.5f);
  return copy_sign(e / (e + 1.0f), x);
}

// The error function, by two polynomials of x = |x|:
//
//   x < 0.921875    x + x P(x^2): the leading coefficient 2 / sqrt(pi) is split into 1 and a rest in P, so
//                   that its rounding does not matter
//   otherwise       1 - e^(x Q(x)), where Q fits log(1 - erf(x)) / x; from 4 on the result is 1
RL_INLINE F32 small_erf(F32 a) {
  return a + a * polynomial(a * a, 0x1.06eba8p-3f, -0x1.812740p-2f, 0x1.ce2d60p-4f, -0x1.b8007ap-6f,
                            0x1.5441c2p-8f, -0x1.a5af6cp-11f, 0x1.4e0cc4p-14f);
}
RL_INLINE F32 erf(F32 x) {
  const F32 a = absolute(x);
  const F32 b = at_most(a, 4.0f);
  const F32 far =
      1.0f - exp_within(b * polynomial(b, -0x1.20e90ep+0f, -0x1.456df8p-1f, -0x1.af52acp-4f, 0x1.74353ap-6f,
                                       -0x1.83a59ep-9f, 0x1.f4295ep-15f, 0x1.6da056p-15f, -0x1.404752p-18f));
  return copy_sign(select(a < 0.921875f, small_erf(a), far), x);
}

// 1 - erf(x) up to 1/2; beyond, with a = |x|,
//
//   erfc(a) = e^(-a^2) P(u) / (2 a + 1),  u = (a - 2) / (a + 2)
//
// and erfc(-a) = 2 - erfc(a). The square is split into that of the upper half of a, which is exact, and the
// rest. From 10.1 on the result is 0.
RL_INLINE F32 erfc(F32 x) {
  const F32 a = at_most(absolute(x), 10.5f);
  const F32 high = from_bits(bits(a) & ~0xfff);
  const F32 square = high * high;
  const F32 rest = (a - high) * (a + high);
  const F32 shifted = kExponents - (square + rest) * kLog2E;
  const F32 n = shifted - kExponents;
  const F32 power = scaled_exp((-square - n * kLn2High) - (n * kLn2Low + rest), shifted);
  const F32 u = (a - 2.0f) / (a + 2.0f);
  const F32 factor =
      polynomial(u, 0x1.46e80ep+0f, -0x1.7bf5eap-4f, -0x1.5407b8p-3f, 0x1.4ff960p-3f, -0x1.bc2338p-5f,
                 -0x1.068a62p-7f, 0x1.1c4de4p-7f, 0x1.2fcce6p-10f, -0x1.51210cp-10f, -0x1.e46514p-13f);
  const F32 large = power * (factor / (a + a + 1.0f));
  const F32 near = 1.0f - copy_sign(small_erf(a), x);
  return select(a < 0.5f, near, select(x < 0.0f, 2.0f - large, large));
}

// x P(w) by two polynomials of w = -log(1 - x^2), the second one of its root (Giles, "Approximating the
// erfinv function", 2012). Infinite at -1 and 1, NaN beyond.
RL_INLINE F32 erfinv(F32 x) {
  const F32 w = -log((1.0f - x) * (1.0f + x));
  const F32 v = w - 2.5f;
  const F32 near =
      polynomial(v, 0x1.805c5ep+0f, 0x1.f91ec4p-3f, -0x1.11ca12p-8f, -0x1.48a5fap-10f, 0x1.ca6e34p-13f,
                 -0x1.27504ap-18f, -0x1.d986f4p-19f, 0x1.71686ap-22f, 0x1.e99046p-26f);
  const F32 r = square_root(w) - 3.0f;
  const F32 far =
      polynomial(r, 0x1.6a9efep+1f, 0x1.006dc2p+0f, 0x1.350ea4p-7f, -0x1.f46740p-8f, 0x1.7b5410p-8f,
                 -0x1.dae46ap-9f, 0x1.45a024p-10f, 0x1.a87432p-15f, -0x1.0035b6p-13f);
  const F32 factor = select(w < 5.0f, near, select(w == kInfinity, w, far));
  return x * factor;
}

// 1 + e^-x, infinite for large negative x. Its inverse is 0 there, from -89 down at the latest, instead of a
// subnormal number, as in PyTorch; above, the lower tail keeps its relative accuracy.
RL_INLINE F32 inverse_sigmoid(F32 x) {
#if RL_SCALES_BY_POWERS
  return exp(-x) + 1.0f;
#else
  return exp_within(at_least(at_most(-x, 89.0f), -87.0f)) + 1.0f;
#endif
}
RL_INLINE F32 sigmoid(F32 x) { return 1.0f / inverse_sigmoid(x); }

// x Phi(x) with the normal distribution Phi(x) = 1/2 + erf(x / sqrt(2)) / 2, whose second term is x P(x^2) /
// Q(x^2). P and Q have positive coefficients, so that no terms cancel. From -5.62 down the sum is 0 or just
// below, with and without fused multiply-adds, which the clamp makes 0; the product with the bounded x is -0,
// also for -infinity. Likewise it is x from 5.62 on.
RL_INLINE F32 gelu(F32 x) {
  const F32 bounded = at_least(x, -5.62f);
  const F32 a = at_most(bounded, 5.62f);
  const F32 square = a * a;
  const F32 over = polynomial(square, 0x1.98844ep-2f, 0x1.1ee152p-5f, 0x1.370274p-8f, 0x1.79dd5ap-13f,
                              0x1.ac0c88p-18f, 0x1.719826p-26f);
  const F32 under = polynomial(square, 1.0f, 0x1.048d9ap-2f, 0x1.e02456p-6f, 0x1.feed3ep-10f, 0x1.4303fcp-14f,
                               0x1.3845a8p-20f);
  return bounded * at_least(at_most(a * (over / under) + 0.5f, 1.0f), 0.0f);
}

// x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), as x sigmoid(2 u), which is -0 from about
// -10.2 down.
RL_INLINE F32 gelu_tanh(F32 x) {
  constexpr float kTwice = 2 * 0.79788456080286535588f;
  const F32 bounded = at_least(x, -11.0f);
  return bounded / inverse_sigmoid(bounded * (kTwice + (kTwice * 0.044715f) * (bounded * bounded)));
}

// Also called swish. -infinity gives NaN, the quotient of infinities.
RL_INLINE F32 silu(F32 x) { return x / inverse_sigmoid(x); }

// The largest |x| for which the number of quarters times each of the first three parts of pi/2 is exact.
inline constexpr float kLarge = 12800;

// The reduced argument: x = (quarter + 4 k) pi/2 + angle + low, where `low` is the rounding error of `angle`,
// and |angle| is at most about pi/4. NaN for infinity. Only the two lowest bits of `quarter` count.
struct ReducedAngle {
  F32 angle;
  F32 low;
  I32 quarter;
};

// Bits of 2/pi, after 32 zeros.
constexpr uint32_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                   0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};

// Payne-Hanek reduction (Payne and Hanek, "Radian reduction for trigonometric functions", 1983) of a finite
// |x| >= 2^13 in integers: of the product with 2/pi, only bits of weight 2 and less matter, and 94 of them
// suffice.
//
//   x = mantissa 2^e  24 bits of mantissa
//   window            96 bits of 2/pi, from the first one whose product with the mantissa matters
//   quarter_bits      64 bits of the product: 2 for the quarter, 62 for the fraction of a quarter
//
// Products of more weight are multiples of 4 quarters and overflow away. The angle is the fraction times
// pi/2, rounded from double; its error needs no `low`.
inline float reduce_large_angle(float x, int32_t* quarter) {
  int32_t pattern;
  std::memcpy(&pattern, &x, sizeof(pattern));
  const uint64_t mantissa = (static_cast<uint32_t>(pattern) & 0x7fffff) | 0x800000;
  const int32_t first = ((pattern >> 23) & 0xff) - 150 + 30;
  const uint32_t* words = kTwoOverPi + (first >> 5);
  const int32_t shift = first & 31;
  uint64_t window[3];
  for (int i = 0; i < 3; ++i) {
    const uint64_t pair = (uint64_t{words[i]} << 32) | words[i + 1];
    window[i] = static_cast<uint32_t>((pair << shift) >> 32);
  }
  const uint64_t quarter_bits =
      ((mantissa * window[0]) << 32) + mantissa * window[1] + ((mantissa * window[2]) >> 32);
  const uint64_t nearest = (quarter_bits + (uint64_t{1} << 61)) >> 62;
  const auto rest = static_cast<int64_t>(quarter_bits - (nearest << 62));
  const auto angle = static_cast<float>(static_cast<double>(rest) * (0x1.921fb54442d18p+0 * 0x1p-62));
  *quarter = static_cast<int32_t>(pattern < 0 ? 0 - nearest : nearest);
  return pattern < 0 ? -angle : angle;
}

// Reduces the lanes with large arguments, one at a time; the others keep their values. Not inlined, so that
// the arrays and integers do not burden the usual case.
[[gnu::noinline]] inline void reduce_large_lanes(const float* x, float* angle, float* low, int32_t* quarter) {
  for (size_t i = 0; i < kLanes; ++i) {
    const float a = x[i] < 0 ? -x[i] : x[i];
    if (!(a > kLarge && a < kInfinity)) continue;
    angle[i] = reduce_large_angle(x[i], &quarter[i]);
    low[i] = 0;
  }
}

// n, the nearest integer to 2 x / pi, and x - n pi/2 by four parts of pi/2. The first three have at most 11
// bits, so that their products with the 13 bits of n are exact; the fourth is rounded. Without fused
// multiply-adds one part of 24 bits would lose digits of an angle near a multiple of pi/2.
RL_INLINE ReducedAngle reduce_angle(F32 x) {
  const F32 shifted = x * 0x1.45f306p-1f + kRounder;
  const F32 n = shifted - kRounder;
  const F32 most = ((x - n * 0x1.92p+0f) - n * 0x1.fb4p-12f) - n * 0x1.444p-24f;
  const F32 last = n * 0x1.68c234p-39f;
  ReducedAngle angle_parts{most - last, splat(0.0f), bits(shifted)};
  angle_parts.low = (most - angle_parts.angle) - last;
  const F32 a = absolute(x);
  if (__builtin_expect(any((a > kLarge) & (a < kInfinity)), 0)) {
    float lanes[kLanes];
    float angle[kLanes];
    float low[kLanes];
    int32_t quarter[kLanes];
    store(lanes, x);
    store(angle, angle_parts.angle);
    store(low, angle_parts.low);
    std::memcpy(quarter, &angle_parts.quarter, sizeof(quarter));
    reduce_large_lanes(lanes, angle, low, quarter);
    angle_parts.angle = load(angle);
    angle_parts.low = load(low);
    std::memcpy(&angle_parts.quarter, quarter, sizeof(quarter));
  }
  return angle_parts;
}

// Sine and cosine of a reduced angle on [-pi/4, pi/4]. `low` enters with the derivatives: 1 for sine, and
// -sin(r), about -r, for cosine.
RL_INLINE F32 reduced_sine(const ReducedAngle& angle_parts) {
  const F32 r = angle_parts.angle;
  const F32 square = r * r;
  return r + (r * (square * polynomial(square, -0x1.555546p-3f, 0x1.11077cp-7f, -0x1.9955bep-13f)) +
              angle_parts.low);
}
RL_INLINE F32 reduced_cosine(const ReducedAngle& angle_parts) {
  const F32 r = angle_parts.angle;
  const F32 square = r * r;
  return 1.0f - (0.5f * square -
                 (square * (square * polynomial(square, 0x1.55554ap-5f, -0x1.6c0c1ap-10f, 0x1.99e0ecp-16f)) -
                  r * angle_parts.low));
}

// sin(x + (quarter - angle_parts.quarter) pi/2), for x as it was reduced:
//
//   quarter % 4     0       1       2        3
//   result          sine    cosine  -sine    -cosine
RL_INLINE F32 sine_of(const ReducedAngle& angle_parts, I32 quarter) {
  const F32 value = select((quarter & 1) != 0, reduced_cosine(angle_parts), reduced_sine(angle_parts));
  return from_bits(bits(value) ^ (shifted_left(quarter, 30) & INT32_MIN));
}

// A zero is returned with its sign, which the sum with `low` would lose.
RL_INLINE F32 sin(F32 x) {
  const ReducedAngle angle_parts = reduce_angle(x);
  return select(x == 0.0f, x, sine_of(angle_parts, angle_parts.quarter));
}

RL_INLINE F32 cos(F32 x) {
  const ReducedAngle angle_parts = reduce_angle(x);
  return sine_of(angle_parts, angle_parts.quarter + 1);
}

// Sine over cosine, or minus cosine over sine in odd quarters.
RL_INLINE F32 tan(F32 x) {
  const ReducedAngle angle_parts = reduce_angle(x);
  const F32 sine = reduced_sine(angle_parts);
  const F32 cosine = reduced_cosine(angle_parts);
  const M32 odd = (angle_parts.quarter & 1) != 0;
  return select(x == 0.0f, x, select(odd, -cosine, sine) / select(odd, sine, cosine));
}

// pi/2 in two parts; their halves and doubles are parts of pi/4 and pi.
inline constexpr float kHalfPi = 0x1.921fb6p+0f;
inline constexpr float kHalfPiRest = -0x1.777a5cp-25f;

// x + x P(x^2), the arcsine up to 1/2.
RL_INLINE F32 small_arcsine(F32 x, F32 square) {
  const F32 tail =
      polynomial(square, 0x1.5555cap-3f, 0x1.33016ap-4f, 0x1.748a2cp-5f, 0x1.8bb536p-6f, 0x1.59cc92p-5f);
  return x + x * (square * tail);
}

// Beyond 1/2 by the half angle: with v = asin(sqrt((1 - a) / 2)), asin(a) = pi/2 - 2 v and acos(a) = 2 v.
// Below, acos(x) = pi/2 - asin(x). NaN outside of [-1, 1].
RL_INLINE F32 asin(F32 x) {
  const F32 a = absolute(x);
  const M32 small = a <= 0.5f;
  const F32 square = select(small, a * a, 0.5f - 0.5f * a);
  const F32 value = small_arcsine(select(small, a, square_root(square)), square);
  return copy_sign(select(small, value, kHalfPi - (2.0f * value - kHalfPiRest)), x);
}
RL_INLINE F32 acos(F32 x) {
  const F32 a = absolute(x);
  const M32 small = a <= 0.5f;
  const F32 square = select(small, a * a, 0.5f - 0.5f * a);
  const F32 value = small_arcsine(select(small, x, square_root(square)), square);
  const F32 twice = value + value;
  const F32 large = select(x < 0.0f, 2 * kHalfPi - (twice - 2 * kHalfPiRest), twice);
  return select(small, kHalfPi - (value - kHalfPiRest), large);
}

// Reduced to [-tan(pi/8), tan(pi/8)] by one quotient:
//
//   atan(a) = pi/4 + atan((a - 1) / (a + 1)) = pi/2 + atan(-1 / a)
RL_INLINE F32 atan(F32 x) {
  const F32 a = absolute(x);
  const M32 middle = a > 0x1.a8279ap-2f;  // tan(pi/8)
  const M32 large = a > 0x1.3504f4p+1f;   // tan(3 pi/8)
  const F32 over = select(large, splat(-1.0f), select(middle, a - 1.0f, a));
  const F32 under = select(large, a, select(middle, a + 1.0f, splat(1.0f)));
  const F32 r = over / under;
  const F32 square = r * r;
  const F32 tail =
      polynomial(square, -0x1.55554ap-2f, 0x1.9991e8p-3f, -0x1.23ba44p-3f, 0x1.b22f08p-4f, -0x1.f31f26p-5f);
  const F32 times = select(large, splat(1.0f), select(middle, splat(0.5f), splat(0.0f)));
  return copy_sign(times * kHalfPi + (r + (r * (square * tail) + times * kHalfPiRest)), x);
}

// x + 3, clamped to [0, 6]; NaN passes.
RL_INLINE F32 relu6_of_shifted(F32 x) { return at_most(at_least(x + 3.0f, 0.0f), 6.0f); }
RL_INLINE F32 hardsigmoid(F32 x) { return relu6_of_shifted(x) * (1.0f / 6.0f); }
RL_INLINE F32 hardswish(F32 x) { return x * hardsigmoid(x); }

// x tanh(log(1 + e^x)), which equals x from 20 on. With e = e^x
//
//   tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1) = n / (n + 2)   for n = e (e + 2)
//
// takes one exponential and a quotient, without cancellation.
RL_INLINE F32 mish(F32 x) {
  const F32 e = exp(at_most(x, 20.0f));
  const F32 n = e * (e + 2.0f);
  return x * (n / (n + 2.0f));
}

// Halves to even. Values from 2^23 on are integers; below, adding 2^23 drops the fraction with the rounding
// of the addition.
RL_INLINE F32 round_half_to_even(F32 x) {
  const F32 a = absolute(x);
  return copy_sign(select(a < 0x1p23f, (a + 0x1p23f) - 0x1p23f, a), x);
}
// floor and ceil correct the nearest integer by one where it is on the wrong side; trunc is the floor of the
// magnitude. copy_sign() keeps the sign of zeros: floor(-0) and ceil(-0.5) are -0.
RL_INLINE F32 floor(F32 x) {
  const F32 near = round_half_to_even(x);
  return copy_sign(near - select(near > x, splat(1.0f), splat(0.0f)), x);
}
RL_INLINE F32 ceil(F32 x) {
  const F32 near = round_half_to_even(x);
  return copy_sign(near + select(near < x, splat(1.0f), splat(0.0f)), x);
}
RL_INLINE F32 trunc(F32 x) {
  const F32 a = absolute(x);
  return copy_sign(floor(a), x);
}

// For each lane the binary logarithm of a power, t = factor * (log2(mantissa) + exponent). It may be 128 and
// needs 24 bits after the point, so that it is computed in double. Returns its nearest integer, and the rest
// times ln 2. Mantissas are from sqrt(1/2) to sqrt(2):
//
//   log2(m) = 2 / ln(2) * artanh(f),  f = (m - 1) / (m + 1),  artanh(f) = f + f^3 / 3 + f^5 / 5 + ...
//
// with six terms, whose coefficients are fitted. The clamp of t keeps both powers of two in scaled_exp()
// normal; results beyond it are 0 or infinite.
RL_INLINE void scaled_log2(const float* mantissa, const float* exponent, const float* factor, float* whole,
                           float* rest) {
  constexpr double kWideRounder = 0x1.8p52;
  for (size_t i = 0; i < kLanes; i += kWideLanes) {
    const F64 m = load_wide(mantissa + i);
    const F64 f = (m - 1.0) / (m + 1.0);
    const F64 s = f * f;
    F64 series = s * 0x1.21b4f82c9f52fp-2 + 0x1.47950ab71d346p-2;
    series = series * s + 0x1.a61a30ba7748fp-2;
    series = series * s + 0x1.2776c29095dd0p-1;
    series = series * s + 0x1.ec709dc53f1b2p-1;
    series = series * s + 0x1.71547652b824fp+1;
    F64 t = (series * f + load_wide(exponent + i)) * load_wide(factor + i);
    t = t < 140.0 ? t : 140.0 + F64{};
    t = t > -160.0 ? t : F64{} - 160.0;
    const F64 n = (t + kWideRounder) - kWideRounder;
    store_narrow(whole + i, n);
    store_narrow(rest + i, (t - n) * 0x1.62e42fefa39efp-1);
  }
}

// |x|^y for arguments that are not NaN. Zero and infinity pass as exponents of -infinity and infinity.
// 0x3f3504f3 is the pattern of sqrt(1/2).
RL_INLINE F32 magnitude_power(F32 a, F32 y) {
  const M32 tiny = a < 0x1p-126f;
  const F32 normal = select(tiny, a * 0x1p23f, a);
  const I32 exponent_of_2 = minus(bits(normal), splat(int32_t{0x3f3504f3})) & ~0x7fffff;
  F32 e = to_float(exponent_of_2 >> 23) - select(tiny, splat(23.0f), splat(0.0f));
  e = select(a == 0.0f, splat(-kInfinity), select(a < kInfinity, e, a));
  float mantissa[kLanes];
  float exponent[kLanes];
  float factor[kLanes];
  float whole[kLanes];
  float rest[kLanes];
  store(mantissa, from_bits(minus(bits(normal), exponent_of_2)));
  store(exponent, e);
  store(factor, y);
  scaled_log2(mantissa, exponent, factor, whole, rest);
  return scaled_exp(load(rest), load(whole) + kExponents);
}

// x^y with the special cases of C's pow (IEEE 754):
//
//   1           if x is 1 or y is 0, also if the other is NaN; if x is -1 and y infinite
//   NaN         otherwise if x or y is NaN; if x is finite and negative, and y no integer
//   sign of x   if y is an odd integer, also for zeros and infinities
RL_INLINE F32 pow(F32 x, F32 y) {
  const F32 a = absolute(x);
  F32 result = magnitude_power(a, y);
  const F32 half = y * 0.5f;
  const M32 whole = trunc(y) == y;
  const M32 odd = whole & (trunc(half) != half);
  result = from_bits(bits(result) ^ (bits(x) & select(odd, splat(INT32_MIN), splat(int32_t{0}))));
  result = select((x < 0.0f) & (a < kInfinity) & (trunc(y) != y), splat(kNotANumber), result);
  result = select((a == 1.0f) & (absolute(y) == kInfinity), splat(1.0f), result);
  result = select((x == x) & (y == y), result, x + y);
  return select((x == 1.0f) | (y == 0.0f), splat(1.0f), result);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
