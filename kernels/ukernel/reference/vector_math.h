// SPDX-License-Identifier: BSD-3-Clause
// References of kernels/ukernel/vector_math.h in double, for tests: functions that <cmath> lacks. Their own
// errors are some 2^-52 and vanish beside the bounds of the header, which are in units of about 2^-24. Tests
// compare with the double itself, in units in the last place of float32.
#pragma once

#include <cmath>
#include <limits>

namespace rushlight::ukernel::reference {

// Avoids the difference 1 - e^x, which cancels.
inline double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

// By Newton's method for erf(y) = x, or for erfc(y) = 1 - x, which is exact from 1/2 on.
inline double erfinv(double x) {
  const double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? x * std::numeric_limits<double>::infinity() : x - x + 0 * std::sqrt(1 - a);
  constexpr double kHalfRootPi = 0.88622692545275801365;
  const double w = -std::log((1 - a) * (1 + a));
  double y = w < 5 ? a * kHalfRootPi : std::sqrt(w - 0.5 * std::log(3 * w));
  for (int step = 0; step < 60; ++step) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double change = error * kHalfRootPi * std::exp(y * y);
    y -= change;
    if (std::fabs(change) <= 1e-15 * y) break;
  }
  return std::copysign(y, x);
}

// Both gelus of -inf are -0, where the product would be NaN. erfc keeps the relative accuracy of the lower
// tail, where 1 + erf(x / sqrt(2)) cancels.
inline double gelu(double x) {
  if (x == -std::numeric_limits<double>::infinity()) return -0.0;
  return 0.5 * x * std::erfc(-x * 0.70710678118654752440);
}
// By the sigmoid, since (1 + tanh u) / 2 = 1 / (1 + e^(-2 u)).
inline double gelu_tanh(double x) {
  if (x == -std::numeric_limits<double>::infinity()) return -0.0;
  return x * sigmoid(2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
}

// The exponential is at most 1, and log1p does not cancel.
inline double log_sigmoid(double x) { return -((x < 0 ? -x : 0) + std::log1p(std::exp(-std::fabs(x)))); }
// silu(-inf) is NaN, as in the contract. mish by its definition: log1p and tanh do not cancel.
inline double silu(double x) { return x * sigmoid(x); }
inline double mish(double x) { return x * std::tanh(std::log1p(std::exp(x))); }
inline double hardsigmoid(double x) {
  const double shifted = x + 3;
  return (shifted < 0 ? 0 : (shifted > 6 ? 6 : shifted)) / 6;
}
inline double hardswish(double x) { return x * hardsigmoid(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline double reciprocal(double x) { return 1 / x; }
inline double square(double x) { return x * x; }
inline double negative(double x) { return -x; }
inline double relu(double x) { return x < 0 ? 0 : x; }

// NaN bounds give NaN, and low > high gives high: PyTorch's rules.
inline double clamp(double x, double low, double high) {
  if (low != low || high != high) return std::numeric_limits<double>::quiet_NaN();
  const double above = x < low ? low : x;
  return above > high ? high : above;
}
inline double leaky_relu(double x, double slope) { return x > 0 ? x : x * slope; }
// expm1 and log1p keep the digits of small results.
inline double elu(double x, double positive, double negative, double inner) {
  return x > 0 ? x * positive : std::expm1(x * inner) * negative;
}
inline double softplus(double x, double beta, double threshold) {
  return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
}

}  // namespace rushlight::ukernel::reference
