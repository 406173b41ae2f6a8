// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/log_add.h"

#include <cmath>

namespace rushlight::kernels {

double log_add(double a, double b) {
  // The difference of equal infinities would be NaN.
  if (a == b && std::isinf(a)) return b;
  return (a < b ? b : a) + std::log1p(std::exp(-std::fabs(a - b)));
}

WideComplex complex_log_add(WideComplex a, WideComplex b) {
  if (a.real == b.real && std::isinf(a.real)) return b;
  const bool a_leads = a.real > b.real;
  const WideComplex larger = a_leads ? a : b;
  return larger + complex_log1p(complex_exp((a_leads ? b : a) - larger));
}

}  // namespace rushlight::kernels
