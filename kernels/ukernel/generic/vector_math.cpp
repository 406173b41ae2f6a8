// SPDX-License-Identifier: BSD-3-Clause
// Loops over the functions of generic/vector_math.h, with a partial vector at the end. Each function is
// inlined into its loop.
#include "kernels/ukernel/generic/vector_math.h"

#include "kernels/ukernel/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// The partial vector pads with zeros, for which every function is defined; their results are not stored.
// Loads precede the store, so that `out` may be x. Functions of few instructions take kVectors at a time:
// each vector alone needs more instructions to count and to move on than to compute.
template <size_t kVectors = 1, class F>
RL_INLINE void for_each(size_t n, const float* x, float* out, F f) {
  constexpr size_t kTogether = kVectors * kLanes;
  if constexpr (kVectors > 1) {
    for (; n >= kTogether; n -= kTogether, x += kTogether, out += kTogether) {
      F32 results[kVectors];
      RL_UNROLL for (size_t k = 0; k < kVectors; ++k) results[k] = load(x + k * kLanes);
      RL_UNROLL for (size_t k = 0; k < kVectors; ++k) results[k] = f(results[k]);
      RL_UNROLL for (size_t k = 0; k < kVectors; ++k) store(out + k * kLanes, results[k]);
    }
  }
  for (; n >= kLanes; n -= kLanes, x += kLanes, out += kLanes) store(out, f(load(x)));
  if (n > 0) store_partial(out, f(load_partial(x, n)), n);
}

}  // namespace

#define RL_FUNCTION(name, result)                      \
  void name(size_t n, const float* x, float* out) {    \
    for_each(n, x, out, [](F32 v) { return result; }); \
  }
#define RL_SHORT_FUNCTION(name, result)                                 \
  void name(size_t n, const float* x, float* out) {                     \
    for_each<kVectorsAtATime>(n, x, out, [](F32 v) { return result; }); \
  }
RL_FUNCTION(expm1_f32, expm1(v))
RL_FUNCTION(exp_f32, exp(v))
RL_FUNCTION(exp2_f32, exp2(v))
RL_FUNCTION(log_f32, log(v))
RL_FUNCTION(log2_f32, log2(v))
RL_FUNCTION(log10_f32, log10(v))
RL_FUNCTION(log1p_f32, log1p(v))
RL_FUNCTION(tanh_f32, tanh(v))
RL_FUNCTION(sigmoid_f32, sigmoid(v))
RL_FUNCTION(log_sigmoid_f32, log_sigmoid(v))
RL_FUNCTION(erf_f32, erf(v))
RL_FUNCTION(erfc_f32, erfc(v))
RL_FUNCTION(erfinv_f32, erfinv(v))
RL_FUNCTION(gelu_f32, gelu(v))
RL_FUNCTION(gelu_tanh_f32, gelu_tanh(v))
RL_FUNCTION(silu_f32, silu(v))
RL_FUNCTION(mish_f32, mish(v))
RL_SHORT_FUNCTION(hardsigmoid_f32, hardsigmoid(v))
RL_SHORT_FUNCTION(hardswish_f32, hardswish(v))
RL_FUNCTION(sin_f32, sin(v))
RL_FUNCTION(cos_f32, cos(v))
RL_FUNCTION(tan_f32, tan(v))
RL_FUNCTION(asin_f32, asin(v))
RL_FUNCTION(acos_f32, acos(v))
RL_FUNCTION(atan_f32, atan(v))
RL_SHORT_FUNCTION(sqrt_f32, square_root(v))
RL_SHORT_FUNCTION(rsqrt_f32, reciprocal_root(v))
RL_SHORT_FUNCTION(reciprocal_f32, 1.0f / v)
RL_SHORT_FUNCTION(square_f32, v* v)
RL_SHORT_FUNCTION(cube_f32, (v * v) * v)
RL_SHORT_FUNCTION(abs_f32, absolute(v))
RL_SHORT_FUNCTION(neg_f32, -v)
RL_SHORT_FUNCTION(relu_f32, rectified(v))
RL_SHORT_FUNCTION(floor_f32, floor(v))
RL_SHORT_FUNCTION(ceil_f32, ceil(v))
RL_SHORT_FUNCTION(trunc_f32, trunc(v))
RL_SHORT_FUNCTION(round_f32, round_half_to_even(v))

#undef RL_FUNCTION
#undef RL_SHORT_FUNCTION

void clamp_f32(size_t n, const float* x, float low, float high, float* out) {
  // Comparisons with a NaN bound are false: adding NaN makes every result NaN.
  const F32 zero = splat(low != low || high != high ? kNotANumber : -0.0f);
  const F32 least = splat(low);
  const F32 most = splat(high);
  for_each<kVectorsAtATime>(n, x, out, [=](F32 v) { return at_most(at_least(v, least), most) + zero; });
}

void logit_f32(size_t n, const float* x, float low, float high, float* out) {
  const F32 least = splat(low);
  const F32 most = splat(high);
  for_each(n, x, out, [=](F32 v) {
    const F32 within = select(v < least, least, select(v > most, most, v));
    return log(within / (1.0f - within));
  });
}

void leaky_relu_f32(size_t n, const float* x, float slope, float* out) {
  const F32 factor = splat(slope);
  for_each<kVectorsAtATime>(n, x, out, [=](F32 v) { return select(v > 0.0f, v, v * factor); });
}

// Both branches are computed; expm1 keeps the digits of small results.
void elu_f32(size_t n, const float* x, float positive, float negative, float inner, float* out) {
  const F32 above = splat(positive);
  const F32 below = splat(negative);
  const F32 factor = splat(inner);
  for_each(n, x, out, [=](F32 v) { return select(v > 0.0f, v * above, expm1(v * factor) * below); });
}

// Beyond the threshold, x itself, as PyTorch: e^x may overflow there.
void softplus_f32(size_t n, const float* x, float beta, float threshold, float* out) {
  const F32 factor = splat(beta);
  const F32 limit = splat(threshold);
  for_each(n, x, out, [=](F32 v) {
    const F32 scaled = v * factor;
    return select(scaled > limit, v, log1p(exp(scaled)) / factor);
  });
}

void power_of_f32(size_t n, const float* x, float exponent, float* out) {
  const F32 y = splat(exponent);
  for_each(n, x, out, [=](F32 v) { return pow(v, y); });
}

void exponential_f32(size_t n, const float* x, float base, float* out) {
  const F32 b = splat(base);
  for_each(n, x, out, [=](F32 v) { return pow(b, v); });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
