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
inline long double wide_rsqrt(long double x) { return 1 / std::sqrt(x); }
inline long double wide_reciprocal(long double x) { return 1 / x; }
inline long double wide_square(long double x) { return x * x; }
inline long double wide_negative(long double x) { return -x; }

}  // namespace rushlight::ukernel::reference
