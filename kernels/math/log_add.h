// SPDX-License-Identifier: BSD-3-Clause
// log(exp(a) + exp(b)) without leaving the range of numbers. Of two that are infinite alike it is b.
#pragma once

#include "kernels/math/complex_math.h"

namespace rushlight::kernels {

double log_add(double a, double b);
WideComplex complex_log_add(WideComplex a, WideComplex b);

}  // namespace rushlight::kernels
