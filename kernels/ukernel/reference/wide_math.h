// SPDX-License-Identifier: BSD-3-Clause
// References of kernels/ukernel/wide_math.h in long double, for tests: functions that <cmath> lacks. Where
// long double is double, their own errors of half a unit count, too.
#pragma once

#include <cmath>

namespace rushlight::ukernel::reference {

// Avoids the difference 1 - e^x, which cancels.
inline long double wide_sigmoid(long double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
inline long double wide_silu(long double x) { return x * wide_sigmoid(x); }
inline long double wide_log_sigmoid(long double x) {
  return -((x < 0 ? -x : 0) + std::log1p(std::exp(-std::fabs(x))));
}
inline long double wide_mish(long double x) {
  const long double e = std::exp(x < 60 ? x : 60);
  return x * (e * (e + 2) / (e * (e + 2) + 2));
}
inline long double wide_erfcx(long double x) {
  if (x < 50) return std::exp(x * x) * std::erfc(x);
  long double sum = 0;
  for (int k = 8; k > 0; --k) sum = (2 * k - 1) / (2 * x * x) * (1 - sum);
  return 0.564189583547756286948079451560772586L / x * (1 - sum);
}
inline long double wide_gelu(long double x) {
  return x / 2 * std::erfc(x * -0.70710678118654752440084436210484904L);
}
inline long double wide_gelu_tanh(long double x) {
  return x / 2 * (1 + std::tanh(0.79788456080286535587989211986876373L * (x + 0.044715L * x * x * x)));
}
// log(e^a + e^b), or of base 2.
inline long double wide_log_add(long double a, long double b, bool base2) {
  if (a == b && std::isinf(a)) return a;
  const long double difference = -std::fabs(a - b);
  const long double rest = std::log1p(base2 ? std::exp2(difference) : std::exp(difference));
  return (a < b ? b : a) + (base2 ? rest * 1.44269504088896340735992468100189214L : rest);
}
// Newton's method, with Halley's correction, from an estimate by Winitzki.
inline long double wide_erfinv(long double x) {
  const long double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? x * HUGE_VALL : NAN;
  if (a < 1e-9L) return x * 0.88622692545275801364908374167057259L;
  const long double w = std::log1p(-a * a);
  const long double t = 4.3307467508L + w / 2;
  long double y = std::sqrt(std::sqrt(t * t - w / 0.147L) - t);
  for (int step = 0; step < 6; ++step) {
    const long double slope = 1.12837916709551257389615890312154517L * std::exp(-y * y);
    const long double miss = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const long double move = miss / slope;
    y -= move / (1 + y * move);
  }
  return x < 0 ? -y : y;
}
inline long double wide_rsqrt(long double x) { return 1 / std::sqrt(x); }
inline long double wide_reciprocal(long double x) { return 1 / x; }
inline long double wide_square(long double x) { return x * x; }
inline long double wide_negative(long double x) { return -x; }

}  // namespace rushlight::ukernel::reference
