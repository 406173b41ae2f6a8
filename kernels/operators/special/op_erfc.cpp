// SPDX-License-Identifier: BSD-3-Clause
// Functions related to erf: complement, inverse, scaled complement, and the normal distribution and its
// quantiles. Inverses are rational functions.
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// Rational functions of eight coefficients, the constant first, for three ranges of the quantile.
struct Rational {
  double above[8];
  double below[8];

  [[nodiscard]] double operator()(double x) const {
    double p = above[7];
    double q = below[7];
    for (size_t k = 7; k-- > 0;) {
      p = p * x + above[k];
      q = q * x + below[k];
    }
    return p / q;
  }
};
constexpr Rational kCentral = {
    {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727},
    {1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
     39307.895800092710610, 28729.085735721942674, 5226.4952788528545610}};
constexpr Rational kTail = {
    {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590,
     0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
constexpr Rational kFarTail = {
    {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
     0.0265321895265761230930, 0.00124266094738807843860, 2.71155556874348757815e-5,
     2.01033439929228813265e-7},
    {1, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

// The quantile of the standard normal distribution at 1/2 + q, for |q| < 1/2, with `tail` = 1/2 - |q|, which
// keeps the digits of q near 1/2. Relative error about 1e-16: Wichura, "The Percentage Points of the Normal
// Distribution", Applied Statistics 37 (1988), algorithm AS 241.
double quantile(double q, double tail) {
  if (std::fabs(q) <= 0.425) return q * kCentral(0.180625 - q * q);
  const double r = std::sqrt(-std::log(tail));
  return std::copysign(r <= 5 ? kTail(r - 1.6) : kFarTail(r - 5), q);
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
