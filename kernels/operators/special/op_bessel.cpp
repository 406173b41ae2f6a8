// SPDX-License-Identifier: BSD-3-Clause
// Bessel functions of order 0 and 1, and the Airy function Ai, in double: recurrence and power series for
// small x, Hankel's asymptotic expansion for large x (DLMF 10.17 and 10.40). Short sums rather than tables of
// coefficients, which would cost flash. Near zeros the error is about 1e-15 of the amplitude, elsewhere of
// the value.
#include <cmath>

#include "kernels/math/double_function.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kEuler = 0.57721566490153286061;
constexpr double kEpsilon = 1e-17;
constexpr double kTiny = 1e-8;  // below this the first term of a power series suffices

// The terms of Hankel's expansion for large x, summed by index modulo 4. J and Y alternate signs in pairs, I
// alternates, K does not.
struct Hankel {
  double sums[4] = {1, 0, 0, 0};

  Hankel(double order, double x) {
    double term = 1;
    for (int k = 1; k < 64; ++k) {
      const double odd = 2 * k - 1;
      const double next = term * (4 * order * order - odd * odd) / (8 * k * x);
      // The series is asymptotic and diverges in the end, so the sum stops at its smallest term.
      if (std::fabs(next) >= std::fabs(term) && k > 1) break;
      term = next;
      sums[k % 4] += term;
      if (std::fabs(term) < kEpsilon) break;
    }
  }
  // Sums for J and Y (p, q), and for I and K; DLMF 10.17.3 and 10.40.1 to 10.40.2.
  [[nodiscard]] double p() const { return sums[0] - sums[2]; }
  [[nodiscard]] double q() const { return sums[1] - sums[3]; }
  [[nodiscard]] double i() const { return (sums[0] + sums[2]) - (sums[1] + sums[3]); }
  [[nodiscard]] double k() const { return (sums[0] + sums[2]) + (sums[1] + sums[3]); }
};

struct Bessel {
  double j[2], y[2];  // by order
};

// Miller's algorithm: recurrence downwards from an order at which J vanishes, then normalization by J0 + 2
// (J2 + J4 + ...) = 1. Upwards the recurrence would be unstable once the order exceeds x. Y follows from
// Neumann's series over the same values. 0 < x < 25.
Bessel from_above(double x) {
  constexpr int kTop = 64;
  constexpr double kHuge = 1e150;
  double above = 0;
  double value = 1e-150;
  double norm = 0;
  double even = 0;
  double odd = 0;
  // even and odd collect the series of Y0 and Y1. All values share one unknown factor, which the norm
  // removes; rescaling keeps it in range.
  for (int n = kTop; n > 0; --n) {
    const int k = n / 2;
    const double sign = k % 2 == 0 ? 1 : -1;
    if (n % 2 == 0) {
      norm += 2 * value;
      even += sign * value / k;
    } else if (k > 0) {
      odd += sign * value * n / (k * (k + 1));
    }
    const double below = 2 * n / x * value - above;
    above = value;
    value = below;
    if (std::fabs(value) > kHuge) {
      for (double* scaled : {&above, &value, &norm, &even, &odd}) *scaled /= kHuge;
    }
  }
  norm += value;
  Bessel result{{value / norm, above / norm}, {0, 0}};
  const double logarithm = std::log(x / 2) + kEuler;
  // Y0 = 2 / pi ((log(x / 2) + gamma) J0 - 2 sum over k of (-1)^k J(2k) / k)
  result.y[0] = 2 / kPi * (logarithm * result.j[0] - 2 * even / norm);
  result.y[1] = 2 / kPi * ((logarithm - 1) * result.j[1] - result.j[0] / x - odd / norm);
  return result;
}

// x > 0.
Bessel bessel(double x) {
  if (x < kTiny) return {{1, x / 2}, {2 / kPi * (std::log(x / 2) + kEuler), -2 / (kPi * x)}};
  if (x < 25) return from_above(x);
  Bessel result{};
  const double amplitude = std::sqrt(2 / (kPi * x));
  for (int order = 0; order < 2; ++order) {
    const Hankel sums(order, x);
    const double phase = x - (2 * order + 1) * (kPi / 4);
    const double cosine = std::cos(phase);
    const double sine = std::sin(phase);
    result.j[order] = amplitude * (sums.p() * cosine - sums.q() * sine);
    result.y[order] = amplitude * (sums.p() * sine + sums.q() * cosine);
  }
  return result;
}

double bessel_j0(double x) { return x == 0 ? 1.0 : bessel(std::fabs(x)).j[0]; }
double bessel_j1(double x) { return x == 0 ? 0.0 : std::copysign(1.0, x) * bessel(std::fabs(x)).j[1]; }

double bessel_y(double x, int order) {
  if (x == 0) return -HUGE_VAL;
  return x > 0 ? bessel(x).y[order] : NAN;
}

// exp(-|x|) I. All terms of the power series are positive, so none cancel; below 20 it takes 36 terms at
// most.
double scaled_i(int order, double x) {
  const double size = std::fabs(x);
  double result;
  if (size < 20) {
    double term = order == 0 ? 1 : size / 2;
    double sum = term;
    for (int k = 1; term > kEpsilon * sum; ++k) {
      term *= size * size / 4 / (k * (k + order));
      sum += term;
    }
    result = sum * std::exp(-size);
  } else {
    result = Hankel(order, size).i() / std::sqrt(2 * kPi * size);
  }
  return order == 1 && x < 0 ? -result : result;
}

double unscaled_i(int order, double x) {
  const double half = std::exp(std::fabs(x) / 2);  // exp(|x|) may overflow where the product does not
  return scaled_i(order, x) * half * half;
}

double bessel_i0(double x) { return unscaled_i(0, x); }
double bessel_i1(double x) { return unscaled_i(1, x); }

// exp(x) K: the integral of exp(x - x cosh(t)) cosh(order t) by the trapezoidal rule, which converges
// exponentially for this integrand.
double scaled_k(double order, double x) {
  if (!(x > 0)) return x == 0 ? HUGE_VAL : NAN;
  if (x >= 20) return Hankel(order, x).k() * std::sqrt(kPi / (2 * x));
  if (x < kTiny) return (order == 1 ? 1 / x : -std::log(x / 2) - kEuler) * std::exp(x);
  constexpr double kStep = 0.125;
  double sum = 0.5;
  double term = 1;
  for (double t = kStep; term > kEpsilon * sum; t += kStep) {
    term = std::exp(x - x * std::cosh(t)) * std::cosh(order * t);
    sum += term;
  }
  return kStep * sum;
}

double unscaled_k(int order, double x) { return scaled_k(order, x) * std::exp(-x); }

// Ai(x) = c1 f(x) - c2 g(x), where f and g are the solutions of y'' = x y with values 1, 0 and slopes 0, 1 at
// 0; c1 and c2 are Ai(0) and -Ai'(0). DLMF 9.4.1.
double airy_by_power_series(double x) {
  constexpr double kAtZero = 0.35502805388781723926;
  constexpr double kSlope = 0.25881940379280679841;
  const double cube = x * x * x;
  double even = kAtZero;
  double odd = kSlope * x;
  double sum = even - odd;
  for (int k = 3; std::fabs(even) + std::fabs(odd) > kEpsilon; k += 3) {
    even *= cube / ((k - 1) * k);
    odd *= cube / (k * (k + 1));
    sum += even - odd;
  }
  return sum;
}

// Below -1 the power series loses digits while the expansion gains them; at -6.9 both are right to about
// 1e-11. From 1 on, Ai(x) = sqrt(x / 3) K(1/3, zeta) / pi with zeta = 2/3 x^(3/2) (DLMF 9.6.2).
double airy(double x) {
  if (x >= -6.9 && x < 1) return airy_by_power_series(x);
  if (std::isinf(x)) return NAN;
  const double size = std::fabs(x);
  const double zeta = 2.0 / 3 * size * std::sqrt(size);
  if (x > 0) return std::sqrt(x / 3) / kPi * scaled_k(1.0 / 3, zeta) * std::exp(-zeta);
  const Hankel sums(1.0 / 3, zeta);
  const double phase = zeta - kPi / 4;
  return std::sqrt(size / 3) * std::sqrt(2 / (kPi * zeta)) *
         (sums.p() * std::cos(phase) - sums.q() * std::sin(phase));
}

double bessel_y0(double x) { return bessel_y(x, 0); }

double bessel_y1(double x) { return bessel_y(x, 1); }

double i0e(double x) { return scaled_i(0, x); }

double i1e(double x) { return scaled_i(1, x); }

double modified_bessel_k0(double x) { return unscaled_k(0, x); }

double modified_bessel_k1(double x) { return unscaled_k(1, x); }

double scaled_modified_bessel_k0(double value) { return scaled_k(0, value); }

double scaled_modified_bessel_k1(double value) { return scaled_k(1, value); }

}  // namespace

Error special_bessel_j0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_j0.out"), bessel_j0>(self, out);
}

Error special_bessel_j1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_j1.out"), bessel_j1>(self, out);
}

Error special_bessel_y0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_y0.out"), bessel_y0>(self, out);
}

Error special_bessel_y1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_bessel_y1.out"), bessel_y1>(self, out);
}

Error i0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::i0.out"), bessel_i0>(self, out);
}

Error special_i1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_i1.out"), bessel_i1>(self, out);
}

Error special_modified_bessel_i0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_i0.out"), bessel_i0>(self, out);
}

Error special_modified_bessel_i1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_i1.out"), bessel_i1>(self, out);
}

Error special_i0e_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_i0e.out"), i0e>(self, out);
}

Error special_i1e_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_i1e.out"), i1e>(self, out);
}

Error special_modified_bessel_k0_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_k0.out"), modified_bessel_k0>(self,
                                                                                                     out);
}

Error special_modified_bessel_k1_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_modified_bessel_k1.out"), modified_bessel_k1>(self,
                                                                                                     out);
}

Error special_scaled_modified_bessel_k0_out(KernelContext&, const Tensor& x, Tensor& out) {
  return double_function<selected_types("aten::special_scaled_modified_bessel_k0.out"),
                         scaled_modified_bessel_k0>(x, out);
}

Error special_scaled_modified_bessel_k1_out(KernelContext&, const Tensor& x, Tensor& out) {
  return double_function<selected_types("aten::special_scaled_modified_bessel_k1.out"),
                         scaled_modified_bessel_k1>(x, out);
}

Error special_airy_ai_out(KernelContext&, const Tensor& x, Tensor& out) {
  return double_function<selected_types("aten::special_airy_ai.out"), airy>(x, out);
}

}  // namespace rushlight::kernels
