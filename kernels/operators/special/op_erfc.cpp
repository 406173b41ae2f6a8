// SPDX-License-Identifier: BSD-3-Clause
// Functions related to erf: complement, inverse, scaled complement, and the normal distribution and its
// quantiles. Inverses start from a rational estimate and take two steps of Halley's method, each of which
// triples the digits: no table of coefficients for double precision.
#include <cmath>

#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// The quantile of the standard normal distribution with `tail` <= 1/2 above it, to 4.5e-4: Abramowitz and
// Stegun, 26.2.23.
double estimate_quantile(double tail) {
  const double t = std::sqrt(-2 * std::log(tail));
  return t -
         (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

// One step of Halley's method for erf(y) = value; `error` is the residual at y. The second derivative of erf
// is -2 y times the first, so the correction to Newton's step costs one division.
double improve(double y, double error) {
  const double newton = error / (kTwoOverSqrtPi * std::exp(-y * y));
  return y - newton / (1 + y * newton);
}

// The y > 0 with erfc(y) = x, for 0 < x <= 1/2. The residual in erfc keeps the digits that erf loses near 1.
double inverse_of_tail(double x) {
  double y = estimate_quantile(x / 2) * kSqrtHalf;
  for (int i = 0; i < 2; ++i) y = improve(y, x - std::erfc(y));
  return y;
}

double erfinv(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(HUGE_VAL, x) : NAN;
  // 1 - size is exact here (Sterbenz' lemma).
  if (size > 0.5) return std::copysign(inverse_of_tail(1 - size), x);
  if (size < 1e-8) return x / kTwoOverSqrtPi;
  double y = estimate_quantile((1 - size) / 2) * kSqrtHalf;
  for (int i = 0; i < 2; ++i) y = improve(y, std::erf(y) - size);
  return std::copysign(y, x);
}

// The quantile of the normal distribution; the tails keep their digits through erfc.
double ndtri(double p) {
  if (p == 0 || p == 1) return p == 0 ? -HUGE_VAL : HUGE_VAL;
  if (!(p > 0 && p < 1)) return NAN;
  constexpr double kSqrt2 = 2 * kSqrtHalf;
  if (p < 0.25) return -kSqrt2 * inverse_of_tail(2 * p);
  return p > 0.75 ? kSqrt2 * inverse_of_tail(2 * (1 - p)) : kSqrt2 * erfinv(2 * p - 1);
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

Error erfc_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::erfc.out"), std::erfc>(self, out);
}

Error erfinv_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::erfinv.out"), erfinv>(self, out);
}

Error special_erfcx_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_erfcx.out"), erfcx>(self, out);
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
