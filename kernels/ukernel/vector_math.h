// SPDX-License-Identifier: BSD-3-Clause
// Functions of float32: out[i] = f(x[i]) for i < n. `out` may be `x`; otherwise they do not overlap. Any n,
// alignment of float; accesses only the two arrays. A result depends only on its element, not on n or its
// position, so that splits among threads change no bit.
//
// Largest error over all float32 values, in units in the last place (ulp) of the exact result; the ulp of a
// subnormal result is 2^-149. The bounds hold without fused multiply-adds too.
//   floor, ceil, trunc, round, abs, neg, relu, clamp  0
//   sqrt, reciprocal, square       0.5: correctly rounded
//   log                            1
//   exp, erf, powers               1.1
//   log1p, rsqrt, cube, exp2, acos 1.5
//   sin, cos                       1.6, for arguments of any size
//   expm1                          1.7
//   log2, log10, atan              2
//   tanh                           2.4, and never beyond 1
//   asin                           2.6
//   hardsigmoid, hardswish         2.5; near -3, where x + 3 is rounded, 2^-24 and 2^-24 |x|
//   log_sigmoid                    2.5
//   sigmoid                        3.1; from -88 down, where results are subnormal, 2^-127
//   tan                            3.6, for arguments of any size
//   erfc, erfinv                   4
//   silu                           4; from -88 down 2^-120
//   mish                           4.6; where e^x is subnormal, below -87, 2^-142
//   gelu, gelu_tanh                3 and 4.5; in the lower tail 1.75 2^-23 |x| and 2^-23 |x|
//   elu, softplus                  3 for parameters of about 1
// PyTorch's eager mode computes sigmoid, silu and both gelus by the same formulas, and so shares their lower
// tails.
// NaN gives NaN. Infinities and zeros (with their signs) give the results of <cmath>. gelu(-inf) is -0,
// silu(-inf) is NaN.
//
// generic/vector_math.h has the same functions of one vector, without the suffix, for use inside other
// microkernels.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

#define RL_VECTOR_FUNCTION(name) \
  RL_UKERNEL_EXACT(void, name, (size_t n, const float* x, float* out), (n, x, out))

namespace rushlight::ukernel {

RL_VECTOR_FUNCTION(exp_f32)
RL_VECTOR_FUNCTION(exp2_f32)
RL_VECTOR_FUNCTION(expm1_f32)
RL_VECTOR_FUNCTION(log_f32)
RL_VECTOR_FUNCTION(log2_f32)
RL_VECTOR_FUNCTION(log10_f32)
RL_VECTOR_FUNCTION(log1p_f32)
RL_VECTOR_FUNCTION(tanh_f32)
RL_VECTOR_FUNCTION(sigmoid_f32)
RL_VECTOR_FUNCTION(log_sigmoid_f32)  // log(sigmoid(x))
RL_VECTOR_FUNCTION(erf_f32)
RL_VECTOR_FUNCTION(erfc_f32)
RL_VECTOR_FUNCTION(erfinv_f32)
RL_VECTOR_FUNCTION(gelu_f32)       // by the error function
RL_VECTOR_FUNCTION(gelu_tanh_f32)  // by the approximation with tanh
RL_VECTOR_FUNCTION(silu_f32)
RL_VECTOR_FUNCTION(mish_f32)
RL_VECTOR_FUNCTION(hardsigmoid_f32)
RL_VECTOR_FUNCTION(hardswish_f32)
RL_VECTOR_FUNCTION(sin_f32)
RL_VECTOR_FUNCTION(cos_f32)
RL_VECTOR_FUNCTION(tan_f32)
RL_VECTOR_FUNCTION(asin_f32)
RL_VECTOR_FUNCTION(acos_f32)
RL_VECTOR_FUNCTION(atan_f32)
RL_VECTOR_FUNCTION(sqrt_f32)
RL_VECTOR_FUNCTION(rsqrt_f32)
RL_VECTOR_FUNCTION(reciprocal_f32)
RL_VECTOR_FUNCTION(square_f32)
RL_VECTOR_FUNCTION(cube_f32)
RL_VECTOR_FUNCTION(abs_f32)
RL_VECTOR_FUNCTION(neg_f32)
RL_VECTOR_FUNCTION(relu_f32)  // keeps -0
RL_VECTOR_FUNCTION(floor_f32)
RL_VECTOR_FUNCTION(ceil_f32)
RL_VECTOR_FUNCTION(trunc_f32)
RL_VECTOR_FUNCTION(round_f32)  // half to even

#undef RL_VECTOR_FUNCTION

// Clamps x to [low, high]; high if low > high. A NaN bound gives NaN.
RL_UKERNEL_EXACT(void, clamp_f32, (size_t n, const float* x, float low, float high, float* out),
                 (n, x, low, high, out))
// log(x / (1 - x)) of x within [low, high] (low below low, else high above high), with the errors of log and
// of a rounded quotient.
RL_UKERNEL_EXACT(void, logit_f32, (size_t n, const float* x, float low, float high, float* out),
                 (n, x, low, high, out))
// x if x > 0, else x * slope.
RL_UKERNEL_EXACT(void, leaky_relu_f32, (size_t n, const float* x, float slope, float* out),
                 (n, x, slope, out))
// x * positive if x > 0, else (e^(x * inner) - 1) * negative.
RL_UKERNEL_EXACT(void, elu_f32,
                 (size_t n, const float* x, float positive, float negative, float inner, float* out),
                 (n, x, positive, negative, inner, out))
// log(1 + e^(x * beta)) / beta, or x if x * beta > threshold.
RL_UKERNEL_EXACT(void, softplus_f32, (size_t n, const float* x, float beta, float threshold, float* out),
                 (n, x, beta, threshold, out))
// x^exponent and base^x.
RL_UKERNEL_EXACT(void, power_of_f32, (size_t n, const float* x, float exponent, float* out),
                 (n, x, exponent, out))
RL_UKERNEL_EXACT(void, exponential_f32, (size_t n, const float* x, float base, float* out), (n, x, base, out))

}  // namespace rushlight::ukernel
