// SPDX-License-Identifier: BSD-3-Clause
// log(exp(a) + exp(b)) without overflow, as max + log1p(exp(-|a - b|)). If both operands are the same
// infinity, the result is b.
#pragma once

#include "kernels/math/complex_math.h"

namespace rushlight::kernels {

// NaN if one operand is NaN. -inf leaves the other operand as it is.
double log_add(double a, double b);
// The operand with the larger real part leads. Branch cuts as complex_log1p().
WideComplex complex_log_add(WideComplex a, WideComplex b);

}  // namespace rushlight::kernels
