// SPDX-License-Identifier: BSD-3-Clause
// Functions of float32 numbers, over n of them: out[i] = f(x[i]). `out` may be `x`; otherwise they do not
// overlap. Any alignment, any n; nothing outside of the two arrays is read or written. An element's result
// depends on that element alone: not on n, on where it stands, or on its neighbours.
//
// The largest error, in units in the last place of the exact result, over all float32 numbers; those of
// subnormal results are 2^-149. Variants without fused multiply-adds are as good.
//   floor, ceil, trunc, round, abs, neg, relu, clamp  0
//   sqrt, reciprocal, square       0.5, that is correctly rounded
//   log                            1
//   exp, erf, powers               1.1
//   tanh, log1p, rsqrt, cube       1.5
//   sin, cos                       1.6, however large the argument
//   expm1                          1.7
//   sigmoid                        2.3
//   hardsigmoid, hardswish         2.5; near -3, where x + 3 is rounded, 2^-24 and 2^-24 |x|
//   silu, mish                     4; where e^x is subnormal, below -87, 2^-142
//   gelu, gelu_tanh                3 and 4; in the lower tail 2^-23 |x|
//   elu, softplus                  3 for parameters of about 1
// NaN gives NaN, infinities and zeros (with their signs) what the functions of <cmath> give. gelu of negative
// infinity is -0, of silu NaN.
//
// The same functions of a vector, for microkernels that need them amid something else, are in
// generic/vector_math.h; there the names have no suffix.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

#define RL_VECTOR_FUNCTION(name) \
  RL_UKERNEL_EXACT(void, name, (size_t n, const float* x, float* out), (n, x, out))

namespace rushlight::ukernel {

RL_VECTOR_FUNCTION(exp_f32)
RL_VECTOR_FUNCTION(expm1_f32)
RL_VECTOR_FUNCTION(log_f32)
RL_VECTOR_FUNCTION(log1p_f32)
RL_VECTOR_FUNCTION(tanh_f32)
RL_VECTOR_FUNCTION(sigmoid_f32)
RL_VECTOR_FUNCTION(erf_f32)
RL_VECTOR_FUNCTION(gelu_f32)       // with the error function
RL_VECTOR_FUNCTION(gelu_tanh_f32)  // with its approximation by the hyperbolic tangent
RL_VECTOR_FUNCTION(silu_f32)
RL_VECTOR_FUNCTION(mish_f32)
RL_VECTOR_FUNCTION(hardsigmoid_f32)
RL_VECTOR_FUNCTION(hardswish_f32)
RL_VECTOR_FUNCTION(sin_f32)
RL_VECTOR_FUNCTION(cos_f32)
RL_VECTOR_FUNCTION(sqrt_f32)
RL_VECTOR_FUNCTION(rsqrt_f32)
RL_VECTOR_FUNCTION(reciprocal_f32)
RL_VECTOR_FUNCTION(square_f32)
RL_VECTOR_FUNCTION(cube_f32)
RL_VECTOR_FUNCTION(abs_f32)
RL_VECTOR_FUNCTION(neg_f32)
RL_VECTOR_FUNCTION(relu_f32)  // -0 stays
RL_VECTOR_FUNCTION(floor_f32)
RL_VECTOR_FUNCTION(ceil_f32)
RL_VECTOR_FUNCTION(trunc_f32)
RL_VECTOR_FUNCTION(round_f32)  // half to even

#undef RL_VECTOR_FUNCTION

// x from low to high; where low is above high, high. A bound that is NaN gives NaN.
RL_UKERNEL_EXACT(void, clamp_f32, (size_t n, const float* x, float low, float high, float* out),
                 (n, x, low, high, out))
// x above 0, otherwise x slope.
RL_UKERNEL_EXACT(void, leaky_relu_f32, (size_t n, const float* x, float slope, float* out),
                 (n, x, slope, out))
// x positive above 0, otherwise (e^(x inner) - 1) negative.
RL_UKERNEL_EXACT(void, elu_f32,
                 (size_t n, const float* x, float positive, float negative, float inner, float* out),
                 (n, x, positive, negative, inner, out))
// log(1 + e^(x beta)) / beta; x where x beta is above the threshold.
RL_UKERNEL_EXACT(void, softplus_f32, (size_t n, const float* x, float beta, float threshold, float* out),
                 (n, x, beta, threshold, out))
// x^exponent, and base^x.
RL_UKERNEL_EXACT(void, power_of_f32, (size_t n, const float* x, float exponent, float* out),
                 (n, x, exponent, out))
RL_UKERNEL_EXACT(void, exponential_f32, (size_t n, const float* x, float base, float* out), (n, x, base, out))

}  // namespace rushlight::ukernel
