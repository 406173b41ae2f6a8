// SPDX-License-Identifier: BSD-3-Clause
// The gamma function's logarithm and its derivatives, and Hurwitz' zeta function.
#include <cmath>
#include <iterator>

#include "kernels/shared/checks.h"
#include "kernels/shared/double_function.h"
#include "runtime/base/log.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kEpsilon = 1.11e-16;

double digamma(double x) {
  if (x == 0) return std::copysign(HUGE_VAL, -x);
  if (x < 0) {
    const double whole = std::trunc(x);
    return x == whole ? NAN : digamma(1 - x) - kPi / std::tan(kPi * (x - whole));
  }
  double result = 0;
  for (; x < 10; x += 1) result -= 1 / x;
  // B(2k) / 2k of the asymptotic series.
  constexpr double kTerms[] = {1.0 / 12,  -1.0 / 120,       1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760.0, 1.0 / 12};
  const double square = 1 / (x * x);
  double sum = 0;
  for (size_t k = std::size(kTerms); k-- > 0;) sum = (sum + kTerms[k]) * square;
  return result + std::log(x) - 0.5 / x - sum;
}

// The sum of (q + k)^-x over k from 0, by Euler and Maclaurin.
double zeta(double x, double q) {
  // What is summed one by one before; far below zero that would be too many.
  constexpr double kFirst = 9;
  constexpr double kLowest = -1e6;
  if (x == 1) return HUGE_VAL;
  if (x < 1) return NAN;
  if (q <= 0) {
    if (q == std::floor(q)) return HUGE_VAL;
    if (x != std::floor(x) || q < kLowest) return NAN;
  }
  if (std::isnan(x) || std::isnan(q)) return NAN;
  double sum = std::pow(q, -x);
  double last = 0;
  for (int i = 0; i < kFirst || q <= kFirst; ++i) {
    q += 1;
    last = std::pow(q, -x);
    sum += last;
    if (std::fabs(last) < kEpsilon * std::fabs(sum)) return sum;
  }
  sum += last * q / (x - 1) - 0.5 * last;
  // (2k)! / B(2k)
  constexpr double kDivisors[] = {12.0,
                                  -720.0,
                                  30240.0,
                                  -1209600.0,
                                  47900160.0,
                                  -1.8924375803183791606e9,
                                  7.47242496e10,
                                  -2.950130727918164224e12,
                                  1.1646782814350067249e14,
                                  -4.5979787224074726105e15,
                                  1.8152105401943546773e17,
                                  -7.1661652561756670113e18};
  double rising = 1;
  double k = 0;
  for (const double divisor : kDivisors) {
    rising *= x + k;
    last /= q;
    const double term = rising * last / divisor;
    sum += term;
    if (std::fabs(term) < kEpsilon * std::fabs(sum)) break;
    rising *= x + k + 1;
    last /= q;
    k += 2;
  }
  return sum;
}

// n is a whole number.
double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  const double size = std::exp(std::lgamma(n + 1)) * zeta(n + 1, x);
  return std::fmod(n, 2) != 0 ? size : -size;
}

double multivariate(double x, double p) {
  double sum = p * (p - 1) / 4 * 1.14472988584940017414;  // log(pi)
  for (double j = 0; j < p; j += 1) sum += std::lgamma(x - j / 2);
  return sum;
}

}  // namespace

Error lgamma_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::lgamma.out"), std::lgamma>(self, out);
}

Error digamma_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::digamma.out"), digamma>(self, out);
}

Error polygamma_out(KernelContext&, int64_t n, const Tensor& self, Tensor& out) {
  RL_CHECK(n >= 0, Error::InvalidArgument, "n: expected one that is not negative, got %lld",
           static_cast<long long>(n));
  const Scalar order(static_cast<double>(n));
  return double_function<selected_types("aten::polygamma.out"), polygamma>(order, self, out);
}

Error mvlgamma_out(KernelContext&, const Tensor& self, int64_t p, Tensor& out) {
  constexpr int64_t kMost = 4096;  // each element takes p steps
  RL_CHECK(p >= 1 && p <= kMost, Error::InvalidArgument, "p: expected 1 to 4096, got %lld",
           static_cast<long long>(p));
  RL_TRY(check_not_bool(self.scalar_type(), "self"));
  const Scalar dimension(static_cast<double>(p));
  return double_function<selected_types("aten::mvlgamma.out"), multivariate>(self, dimension, out);
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
