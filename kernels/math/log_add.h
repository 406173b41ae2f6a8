// SPDX-License-Identifier: BSD-3-Clause
// log(exp(a) + exp(b)) without overflow. If both operands are the same infinity, the result is b.
#pragma once

#include "kernels/math/complex_math.h"

namespace rushlight::kernels {

double log_add(double a, double b);
WideComplex complex_log_add(WideComplex a, WideComplex b);

}  // namespace rushlight::kernels
