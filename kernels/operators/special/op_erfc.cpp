// SPDX-License-Identifier: BSD-3-Clause
// Functions related to erf: complement, inverse, scaled complement, and the normal distribution and its
// quantiles. Inverses are rational functions.
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/math/double_function.h"
#include "kernels/ukernel/normal_quantile.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

double fraction(double x, const NormalQuantile& of) {
  double p = of.above[7];
  double q = of.below[7];
  for (size_t k = 7; k-- > 0;) {
    p = p * x + of.above[k];
    q = q * x + of.below[k];
  }
  return p / q;
}

// The quantile of the standard normal distribution at 1/2 + q, for |q| < 1/2, with `tail` = 1/2 - |q|, which
// keeps the digits of q near 1/2. Reference and error: kernels/ukernel/normal_quantile.h.
double quantile(double q, double tail) {
  if (std::fabs(q) <= 0.425) return q * fraction(0.180625 - q * q, kQuantileCentral);
  const double r = std::sqrt(-std::log(tail));
  return std::copysign(r <= 5 ? fraction(r - 1.6, kQuantileTail) : fraction(r - 5, kQuantileFarTail), q);
}

double erfinv(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(HUGE_VAL, x) : NAN;
  return quantile(x / 2, (1 - size) / 2) * kSqrtHalf;
}

// The quantile of the normal distribution.
double ndtri(double p) {
  if (p == 0 || p == 1) return p == 0 ? -HUGE_VAL : HUGE_VAL;
  if (!(p > 0 && p < 1)) return NAN;
  return quantile(p - 0.5, p < 0.5 ? p : 1 - p);
}

// exp(x^2) erfc(x). Below 25, fma recovers the rounding error of x^2, which exp() would turn into a relative
// error x^2 times as large.
double erfcx(double x) {
  const double square = x * x;
  if (x < 25) {
    const double lost = std::fma(x, x, -square);
    return std::exp(square) * (1 + (square < 700 ? lost : 0)) * std::erfc(x);
  }
  // Seven terms of the asymptotic series; the rest is below double precision.
  double sum = 0;
  for (int k = 7; k > 0; --k) sum = (2 * k - 1) / (2 * square) * (1 - sum);
  return (1 - sum) * (kTwoOverSqrtPi / 2) / x;
}

// By erfc, and not 1 + erf, which cancels in the lower tail.
double ndtr(double x) { return std::erfc(-x * kSqrtHalf) / 2; }

// log(ndtr(x)). Below -1 the square in erfcx is taken out, because ndtr underflows from about -38 on.
double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x * kSqrtHalf) / 2) - x * x / 2;
  return std::log1p(-ndtr(-x));
}

}  // namespace

Error erfc_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::erfc.out");
  return backs::erfc_out(context, FloatingProblem<kTypes>{self, out},
                         [&] { return double_function<kTypes, std::erfc>(self, out); });
}

Error erfinv_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::erfinv.out");
  return backs::erfinv_out(context, FloatingProblem<kTypes>{self, out},
                           [&] { return double_function<kTypes, erfinv>(self, out); });
}

Error special_erfcx_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::special_erfcx.out");
  return backs::special_erfcx_out(context, FloatingProblem<kTypes>{self, out},
                                  [&] { return double_function<kTypes, erfcx>(self, out); });
}

Error special_ndtr_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_ndtr.out"), ndtr>(self, out);
}

Error special_ndtri_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_ndtri.out"), ndtri>(self, out);
}

Error special_log_ndtr_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_log_ndtr.out"), log_ndtr>(self, out);
}

}  // namespace rushlight::kernels
