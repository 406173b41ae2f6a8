// SPDX-License-Identifier: BSD-3-Clause
// The regularized incomplete gamma functions P(a, x), the lower, and Q(a, x) = 1 - P: the power series for x
// <= a + 1, the continued fraction above, and Temme's uniform asymptotic expansion (DLMF 8.12) for large a.
// Computes the smaller of P and Q directly, so that no digits cancel.
#include <cmath>

#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kEpsilon = 1.11e-16;
// The series and the fraction take about sqrt(a) steps. Above this a, the first terms of Temme's expansion
// are as accurate.
constexpr double kLarge = 1e6;
constexpr int kMostSteps = 20000;

// log(1 + t) - t. For |t| <= 0.01 by its series, because the difference would cancel; the terms up to t^9
// reach double precision.
double log1p_less(double t) {
  if (std::fabs(t) > 0.01) return std::log1p(t) - t;
  double sum = 0;
  for (int k = 9; k > 1; --k) sum = 1.0 / k - t * sum;
  return -t * t * sum;
}

// x^a e^-x / Gamma(a + 1): by logarithms for small a, by Stirling's series about x = a for large a, where the
// logarithms would cancel.
double prefix(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  // The terms of log Gamma(a) beyond (a - 1/2) log a - a + log(2 pi) / 2, up to a^-7.
  const double square = 1 / (a * a);
  const double stirling = (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680))) / a;
  return std::exp(a * log1p_less((x - a) / a) - stirling) / std::sqrt(a * 6.28318530717958647692);
}

// The power series of P.
double lower_by_series(double a, double x) {
  double term = 1;
  double sum = 1;
  for (int n = 1; n < kMostSteps && term > kEpsilon * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return prefix(a, x) * sum;
}

// The continued fraction by Lentz' method, for x > a + 1.
double upper_by_fraction(double a, double x) {
  double b = x + 1 - a;
  double c = HUGE_VAL;
  double d = 1 / b;
  double fraction = d;
  for (int n = 1; n < kMostSteps; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    const double factor = c * d;
    fraction *= factor;
    if (std::fabs(factor - 1) < kEpsilon) break;
  }
  return prefix(a, x) * a * fraction;
}

// Q by Temme's expansion: erfc and the first correction term.
double upper_of_large(double a, double x) {
  // eta^2 / 2 = mu - log(1 + mu), with the sign of mu; near 0 the correction is its own series.
  const double mu = (x - a) / a;
  const double half_square = -log1p_less(mu);
  const double eta = std::copysign(std::sqrt(2 * half_square), mu);
  const double first = std::fabs(eta) < 0.01 ? -1.0 / 3 + eta / 12 - eta * eta * 2 / 135 : 1 / mu - 1 / eta;
  return std::erfc(eta * std::sqrt(a / 2)) / 2 +
         std::exp(-a * half_square) / std::sqrt(a * 6.28318530717958647692) * first;
}

// P or Q, by `upper`. Infinite arguments take precedence over NaN, as in PyTorch.
double incomplete(double a, double x, bool upper) {
  const bool all_below = std::isinf(x);
  const bool all_above = std::isinf(a);
  if (a < 0 || x < 0 || (a == 0 && !(x > 0)) || (all_above && all_below)) return NAN;
  if (a == 0) return upper ? 0 : 1;
  if (x == 0 || all_above) return upper ? 1 : 0;
  if (all_below) return upper ? 0 : 1;
  if (std::isnan(a) || std::isnan(x)) return NAN;
  const bool above = x > a + 1;
  double result;
  bool is_upper = above;
  if (a > kLarge) {
    result = upper_of_large(a, x);
    is_upper = true;
  } else {
    result = above ? upper_by_fraction(a, x) : lower_by_series(a, x);
  }
  return is_upper == upper ? result : 1 - result;
}

double lower(double a, double x) { return incomplete(a, x, false); }

double upper(double a, double x) { return incomplete(a, x, true); }

}  // namespace

Error igamma_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::igamma.out"), lower>(self, other, out);
}

Error igammac_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::igammac.out"), upper>(self, other, out);
}

}  // namespace rushlight::kernels
