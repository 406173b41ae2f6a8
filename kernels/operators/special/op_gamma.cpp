// SPDX-License-Identifier: BSD-3-Clause
// The logarithm of the gamma function, its derivatives, and Hurwitz' zeta function. Digamma: recurrence up to
// x >= 10, then the asymptotic series; polygamma: a multiple of zeta.
#include <cmath>
#include <iterator>

#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/math/double_function.h"
#include "kernels/math/rounding.h"
#include "runtime/base/log.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLogPi = 1.14472988584940017414;
constexpr double kEpsilon = 1.11e-16;

// The derivative of lgamma. Negative x by reflection; the tangent takes the fractional part only, because pi
// x loses digits. Poles are infinite at 0, with the sign of -x, and NaN at negative integers, as in PyTorch.
double digamma(double x) {
  if (x == 0) return std::copysign(HUGE_VAL, -x);
  if (x < 0) {
    const double whole = std::trunc(x);
    return x == whole ? NAN : digamma(1 - x) - kPi / std::tan(kPi * (x - whole));
  }
  double result = 0;
  // digamma(x) = digamma(x + 1) - 1 / x
  for (; x < 10; x += 1) result -= 1 / x;
  // B(2k) / 2k of the asymptotic series.
  constexpr double kTerms[] = {1.0 / 12,  -1.0 / 120,       1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760.0, 1.0 / 12};
  const double square = 1 / (x * x);
  double sum = 0;
  for (size_t k = std::size(kTerms); k-- > 0;) sum = (sum + kTerms[k]) * square;
  return result + std::log(x) - 0.5 / x - sum;
}

// a^-x. Small integer exponents multiply: polygamma has no others.
double inverse_power(double a, double x) {
  constexpr int kMost = 16;
  const int whole = x <= kMost ? static_cast<int>(x) : 0;
  if (whole != x) return std::pow(a, -x);
  double power = 1;
  for (int k = 0; k < whole; ++k) power *= a;
  return 1 / power;
}

// Hurwitz' zeta function, the sum of (q + k)^-x over k from 0. Adds the first terms directly, up to a = q +
// N; the Euler-Maclaurin formula gives the rest (DLMF 25.11.5 and 2.10.1, https://dlmf.nist.gov/25.11):
//
//   a^(1-x) / (x-1) + a^-x / 2 + sum over j of B(2j) / (2j)! x (x+1) ... (x+2j-2) a^(1-x-2j)
//
// Its terms shrink by about (x + 2j)^2 / (2 pi a)^2, so with a of at least x + 8 twelve of them reach double
// precision. For large x the direct terms vanish early, and the loop stops. Poles (q a negative integer or
// zero, x = 1) are infinite; x < 1 and complex results are NaN.
double zeta(double x, double q) {
  constexpr double kLowest = -1e6;  // limits the direct terms before a is positive
  // B(2j) / (2j)!, which spares a quotient for each term.
  constexpr double kBernoulli[] = {8.3333333333333333e-02,  -1.3888888888888889e-03, 3.3068783068783069e-05,
                                   -8.2671957671957672e-07, 2.0876756987868099e-08,  -5.2841901386874932e-10,
                                   1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
                                   -2.1748686985580619e-16, 5.5090028283602296e-18,  -1.3954464685812523e-19};
  if (x < 1) return NAN;
  if (x == 1 || (q <= 0 && std::floor(q) == q)) return HUGE_VAL;
  if (std::isnan(x) || std::isnan(q) || q < kLowest || (q < 0 && std::floor(x) != x)) return NAN;

  double sum = 0;
  double a = q;
  double power = inverse_power(a, x);
  for (; a < x + 8; a += 1, power = inverse_power(a, x)) {
    sum += power;
    if (a > 0 && !(power > kEpsilon * std::fabs(sum))) return sum;  // NaN, too: inf - inf for a large x
  }
  if (power == 0) return std::isinf(x) || std::isinf(q) ? NAN : sum;  // as in PyTorch
  double rest = power * (a / (x - 1) + 0.5);
  double factor = power * x / a;  // x (x+1) ... a^(1-x-2j)
  const double square = 1 / (a * a);
  for (size_t j = 1; j <= std::size(kBernoulli); ++j) {
    const double twice = 2.0 * static_cast<double>(j);
    const double term = kBernoulli[j - 1] * factor;
    rest += term;
    if (std::fabs(term) < kEpsilon * std::fabs(rest)) break;
    factor *= (x + twice - 1) * (x + twice) * square;
  }
  return sum + rest;
}

#ifndef __OPTIMIZE_SIZE__
// polygamma(1, x), the derivative of digamma, in a loop that compilers vectorize: seven terms 1 / x^2 of the
// recurrence, and the asymptotic series of B(2j) / x^(2j+1) from there on, 8 at least for x >= 1. For x < 1/2
// by reflection: pi^2 / sin(pi x)^2 less the value at 1 - x. The sine is that of the distance r to the
// nearest integer, by its Taylor series as pi r (1 - ...). Poles are infinite. Error below 3e-15 of the
// larger term.
[[gnu::always_inline]] inline double trigamma(double x) {
  const double size = std::fabs(x);
  const bool reflects = x < 0.5;
  const double r = std::fabs(size - rounded_to_even(size));
  // sin(pi r)^2 = sin(pi (1/2 - r))'s complement where r is large: one series of (pi r)^2 up to pi^2 / 4.
  const double z = kPi * kPi * r * r;
  constexpr double kSine[] = {-1.0 / 6,
                              1.0 / 120,
                              -1.0 / 5040,
                              1.0 / 362880,
                              -1.0 / 39916800,
                              1.0 / 6227020800.0,
                              -1.0 / 1307674368000.0,
                              1.0 / 355687428096000.0,
                              -1.0 / 121645100408832000.0};
  double tail = kSine[8];
  tail = tail * z + kSine[7];
  tail = tail * z + kSine[6];
  tail = tail * z + kSine[5];
  tail = tail * z + kSine[4];
  tail = tail * z + kSine[3];
  tail = tail * z + kSine[2];
  tail = tail * z + kSine[1];
  tail = tail * z + kSine[0];
  const double sine = r * (1 + z * tail);  // over pi
  // Selections are masked: compilers make branches of others.
  double a = internal::value_if(reflects, 1 - x) + internal::value_if(!reflects, x);
  // Above 2^52 the steps would round; there they would vanish, too.
  double sum = 1 / (a * a);
  sum += 1 / ((a + 1) * (a + 1));
  sum += 1 / ((a + 2) * (a + 2));
  sum += 1 / ((a + 3) * (a + 3));
  sum += 1 / ((a + 4) * (a + 4));
  sum += 1 / ((a + 5) * (a + 5));
  sum += 1 / ((a + 6) * (a + 6));
  a += 7;
  const double inverse = 1 / a;
  const double square = inverse * inverse;
  double rest = 7.0 / 6;
  rest = rest * square - 691.0 / 2730;
  rest = rest * square + 5.0 / 66;
  rest = rest * square - 1.0 / 30;
  rest = rest * square + 1.0 / 42;
  rest = rest * square - 1.0 / 30;
  rest = rest * square + 1.0 / 6;
  sum += inverse + square * (0.5 + inverse * rest);
  const double reflected = 1 / (sine * sine) - sum;
  return internal::value_if(reflects, reflected) + internal::value_if(!reflects, sum);
}
#endif

// The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x). n is a nonnegative integer.
double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  // The factorial overflows in double from n = 171 on: the result is then infinite, or NaN where zeta
  // vanishes.
  double factorial = 1;
  for (double k = 2; k <= n && k <= 171; k += 1) factorial *= k;
  const double size = factorial * zeta(n + 1, x);
  return std::fmod(n, 2) != 0 ? size : -size;
}

// The logarithm of the multivariate gamma function: p (p - 1) / 4 log(pi) + sum over j < p of lgamma(x - j /
// 2).
double multivariate(double x, double p) {
  double sum = p * (p - 1) / 4 * kLogPi;
  for (double j = 0; j < p; j += 1) sum += std::lgamma(x - j / 2);
  return sum;
}

}  // namespace

Error lgamma_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::lgamma.out");
  return backs::lgamma_out(context, FloatingProblem<kTypes>{self, out},
                           [&] { return double_function<kTypes, std::lgamma>(self, out); });
}

Error digamma_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::digamma.out"), digamma>(self, out);
}

Error polygamma_out(KernelContext&, int64_t n, const Tensor& self, Tensor& out) {
  RL_CHECK(n >= 0, Error::InvalidArgument, "n: expected 0 at least, got %lld", static_cast<long long>(n));
#ifndef __OPTIMIZE_SIZE__
  if (n == 1) {
    constexpr TypeSet kTypes = selected_types("aten::polygamma.out");
    if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
    const auto f = [](auto x) __attribute__((always_inline)) {
      return static_cast<decltype(x)>(trigamma(static_cast<double>(x)));
    };
    return elementwise_floating<kTypes>(out, f, self);
  }
#endif
  const Scalar order(static_cast<double>(n));
  return double_function<selected_types("aten::polygamma.out"), polygamma>(order, self, out);
}

Error mvlgamma_out(KernelContext& context, const Tensor& self, int64_t p, Tensor& out) {
  constexpr int64_t kMost = 4096;  // each element takes p steps
  RL_CHECK(p >= 1 && p <= kMost, Error::InvalidArgument, "p: expected 1 to 4096, got %lld",
           static_cast<long long>(p));
  RL_TRY(check_not_bool(self.scalar_type(), "self"));
  const Scalar dimension(static_cast<double>(p));
  constexpr TypeSet kTypes = selected_types("aten::mvlgamma.out");
  const LgammaSumProblem problem = {{self, out},
                                    static_cast<size_t>(p),
                                    static_cast<double>(p * (p - 1)) / 4 * kLogPi,
                                    kTypes & (types::kIntegral | types::kBool)};
  return backs::mvlgamma_out(context, problem,
                             [&] { return double_function<kTypes, multivariate>(self, dimension, out); });
}

Error special_zeta_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::special_zeta.out"), zeta>(self, other, out);
}

Error special_zeta_self_scalar_out(KernelContext&, const Scalar& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::special_zeta.self_scalar_out"), zeta>(self, other, out);
}

Error special_zeta_other_scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  return double_function<selected_types("aten::special_zeta.other_scalar_out"), zeta>(self, other, out);
}

}  // namespace rushlight::kernels
