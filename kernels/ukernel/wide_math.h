// SPDX-License-Identifier: BSD-3-Clause
// Functions of float64, and functions of float32 that are computed in float64: out[i] = f(x[i]) for i < n.
// `out` may be `x`; otherwise they do not overlap. Any n, alignment of the element type; accesses only the
// arrays. A result depends only on its element.
//
// Largest error of float64 results, in units in the last place:
//   floor, ceil, trunc, round, abs, neg         0
//   sqrt, reciprocal, square                    0.5
//   exp, exp2, log, log1p, sin, cos, rsqrt      1.5
//   expm1                                       2
//   log2, log10, atan, sigmoid, silu            3
//   log_sigmoid                                 3
//   tan, tanh, sinh, cosh, atan2                4
//   asinh, acosh, atanh                         4
//   erf                                         1.6
//   erfc                                        2
//   asin, acos                                  2.5
//   elu, log_add, log2_add                      3; near a result of 0 2^-50
//   mish                                        4.5
//   gelu, gelu_tanh                             4.5; below -1, where a sum cancels, 2^-52 |x|
//   erfcx                                       4
//   lgamma                                      6; near its zeros at negative x 2^-48
//   erfinv                                      8
// and of float32 results 0.51. sin, cos and tan: for |x| up to kLargestAngle; beyond, the result is
// undefined. NaN gives NaN. Infinities and zeros, with their signs, give the results of <cmath>; silu(-inf)
// is NaN.
//
// generic/wide_math.h has the same functions of one vector.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

#define RL_WIDE_FUNCTION(name) \
  RL_UKERNEL_EXACT(void, name##_f64, (size_t n, const double* x, double* out), (n, x, out))
#define RL_NARROW_FUNCTION(name) \
  RL_UKERNEL_EXACT(void, name##_f32, (size_t n, const float* x, float* out), (n, x, out))
#define RL_BOTH_FUNCTIONS(name) RL_WIDE_FUNCTION(name) RL_NARROW_FUNCTION(name)

namespace rushlight::ukernel {

// The number of quarters of a circle up to here has 20 bits.
inline constexpr double kLargestAngle = 1.6e6;

RL_WIDE_FUNCTION(exp)
RL_WIDE_FUNCTION(expm1)
RL_WIDE_FUNCTION(log)
RL_WIDE_FUNCTION(log1p)
RL_WIDE_FUNCTION(sin)
RL_WIDE_FUNCTION(cos)
RL_WIDE_FUNCTION(tanh)
RL_WIDE_FUNCTION(sigmoid)
RL_WIDE_FUNCTION(silu)
RL_WIDE_FUNCTION(sqrt)
RL_WIDE_FUNCTION(rsqrt)
RL_WIDE_FUNCTION(reciprocal)
RL_WIDE_FUNCTION(square)
RL_WIDE_FUNCTION(abs)
RL_WIDE_FUNCTION(neg)
RL_WIDE_FUNCTION(floor)
RL_WIDE_FUNCTION(ceil)
RL_WIDE_FUNCTION(trunc)
RL_WIDE_FUNCTION(round)        // half to even
RL_WIDE_FUNCTION(log_sigmoid)  // log(sigmoid(x))
RL_WIDE_FUNCTION(exp2)
RL_WIDE_FUNCTION(log2)
RL_WIDE_FUNCTION(log10)
RL_WIDE_FUNCTION(tan)
RL_BOTH_FUNCTIONS(sinh)
RL_BOTH_FUNCTIONS(cosh)
RL_WIDE_FUNCTION(asin)
RL_WIDE_FUNCTION(acos)
RL_WIDE_FUNCTION(atan)
RL_BOTH_FUNCTIONS(asinh)
RL_BOTH_FUNCTIONS(acosh)
RL_BOTH_FUNCTIONS(atanh)

RL_WIDE_FUNCTION(erf)
RL_WIDE_FUNCTION(erfc)
RL_WIDE_FUNCTION(erfinv)
RL_WIDE_FUNCTION(gelu)       // by the error function
RL_WIDE_FUNCTION(gelu_tanh)  // by the approximation with tanh
RL_WIDE_FUNCTION(mish)
RL_BOTH_FUNCTIONS(erfcx)   // e^(x^2) erfc(x)
RL_BOTH_FUNCTIONS(lgamma)  // log(|gamma(x)|)

#undef RL_WIDE_FUNCTION
#undef RL_NARROW_FUNCTION
#undef RL_BOTH_FUNCTIONS

// The angle of the point (x[i * x_step], y[i * y_step]); a step is 0 or 1.
RL_UKERNEL_EXACT(void, atan2_f64,
                 (size_t n, const double* y, size_t y_step, const double* x, size_t x_step, double* out),
                 (n, y, y_step, x, x_step, out))
RL_UKERNEL_EXACT(void, atan2_f32,
                 (size_t n, const float* y, size_t y_step, const float* x, size_t x_step, float* out),
                 (n, y, y_step, x, x_step, out))

// log(e^a + e^b) and log2(2^a + 2^b) of elements in the same manner.
RL_UKERNEL_EXACT(void, log_add_f64,
                 (size_t n, const double* a, size_t a_step, const double* b, size_t b_step, double* out),
                 (n, a, a_step, b, b_step, out))
RL_UKERNEL_EXACT(void, log2_add_f64,
                 (size_t n, const double* a, size_t a_step, const double* b, size_t b_step, double* out),
                 (n, a, a_step, b, b_step, out))

// constant + the sum of lgamma(x[i] - j / 2) over j < p.
RL_UKERNEL_EXACT(void, sum_lgamma_f64, (size_t n, const double* x, size_t p, double constant, double* out),
                 (n, x, p, constant, out))
RL_UKERNEL_EXACT(void, sum_lgamma_f32, (size_t n, const float* x, size_t p, double constant, float* out),
                 (n, x, p, constant, out))

// As elu_f32 of vector_math.h.
RL_UKERNEL_EXACT(void, elu_f64,
                 (size_t n, const double* x, double positive, double negative, double inner, double* out),
                 (n, x, positive, negative, inner, out))
// As logit_f32 of vector_math.h.
RL_UKERNEL_EXACT(void, logit_f64, (size_t n, const double* x, double low, double high, double* out),
                 (n, x, low, high, out))

}  // namespace rushlight::ukernel
