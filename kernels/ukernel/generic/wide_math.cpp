// SPDX-License-Identifier: BSD-3-Clause
// Loops over the functions of generic/wide_math.h. A partial vector at the end passes through a buffer.
#include "kernels/ukernel/generic/wide_math.h"

#include "kernels/ukernel/wide_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Loads and stores of kWideLanes elements as F64.
RL_INLINE F64 load_lanes(const double* from) { return load(from); }
RL_INLINE F64 load_lanes(const float* from) { return load_wide(from); }
RL_INLINE void store_lanes(double* to, F64 value) { store(to, value); }
RL_INLINE void store_lanes(float* to, F64 value) { store_narrow(to, value); }

// Pads the last vector with ones, for which every function is defined.
template <class T, class F>
RL_INLINE void for_each(size_t n, const T* x, T* out, F f) {
  size_t i = 0;
  for (; i + kWideLanes <= n; i += kWideLanes) store_lanes(out + i, f(load_lanes(x + i)));
  if (i == n) return;
  T lanes[kWideLanes];
  for (size_t k = 0; k < kWideLanes; ++k) lanes[k] = i + k < n ? x[i + k] : T(1);
  store_lanes(lanes, f(load_lanes(lanes)));
  for (size_t k = 0; i + k < n; ++k) out[i + k] = lanes[k];
}

template <class T, class F>
RL_INLINE void for_pairs(size_t n, const T* a, size_t a_step, const T* b, size_t b_step, T* out, F f) {
  T left[kWideLanes];
  T right[kWideLanes];
  for (size_t k = 0; k < kWideLanes; ++k) {
    left[k] = a_step == 0 ? *a : T(1);
    right[k] = b_step == 0 ? *b : T(1);
  }
  size_t i = 0;
  for (; i + kWideLanes <= n; i += kWideLanes) {
    const F64 first = load_lanes(a_step == 0 ? left : a + i);
    store_lanes(out + i, f(first, load_lanes(b_step == 0 ? right : b + i)));
  }
  if (i == n) return;
  for (size_t k = 0; i + k < n; ++k) {
    left[k] = a[(i + k) * a_step];
    right[k] = b[(i + k) * b_step];
  }
  store_lanes(left, f(load_lanes(left), load_lanes(right)));
  for (size_t k = 0; i + k < n; ++k) out[i + k] = left[k];
}

}  // namespace

#define RL_FUNCTION(name, result)                           \
  void name##_f64(size_t n, const double* x, double* out) { \
    for_each(n, x, out, [](F64 v) { return result; });      \
  }
#define RL_BOTH(name)                                     \
  RL_FUNCTION(name, name(v))                              \
  void name##_f32(size_t n, const float* x, float* out) { \
    for_each(n, x, out, [](F64 v) { return name(v); });   \
  }

RL_FUNCTION(exp, exp(v))
RL_FUNCTION(expm1, expm1(v))
RL_FUNCTION(log, log(v))
RL_FUNCTION(log1p, log1p(v))
RL_FUNCTION(sin, sin(v))
RL_FUNCTION(cos, cos(v))
RL_FUNCTION(tanh, tanh(v))
RL_FUNCTION(sigmoid, sigmoid(v))
RL_FUNCTION(silu, v* sigmoid(v))
RL_FUNCTION(sqrt, square_root(v))
RL_FUNCTION(rsqrt, 1.0 / square_root(v))
RL_FUNCTION(reciprocal, 1.0 / v)
RL_FUNCTION(square, v* v)
RL_FUNCTION(abs, absolute(v))
RL_FUNCTION(neg, -v)
RL_FUNCTION(floor, floor(v))
RL_FUNCTION(ceil, ceil(v))
RL_FUNCTION(trunc, trunc(v))
RL_FUNCTION(round, round_half_to_even(v))
RL_FUNCTION(log_sigmoid, log_sigmoid(v))
RL_FUNCTION(exp2, exp2(v))
RL_FUNCTION(log2, log2(v))
RL_FUNCTION(log10, log10(v))
RL_FUNCTION(tan, tan(v))
RL_BOTH(sinh)
RL_BOTH(cosh)
RL_FUNCTION(asin, asin(v))
RL_FUNCTION(acos, acos(v))
RL_FUNCTION(atan, atan(v))
RL_BOTH(asinh)
RL_BOTH(acosh)
RL_BOTH(atanh)

RL_FUNCTION(erf, erf(v))
RL_FUNCTION(erfc, erfc(v))
RL_FUNCTION(erfinv, erfinv(v))
RL_FUNCTION(gelu, gelu(v))
RL_FUNCTION(gelu_tanh, gelu_tanh(v))
RL_FUNCTION(mish, mish(v))
RL_BOTH(erfcx)
RL_BOTH(lgamma)

#undef RL_FUNCTION
#undef RL_BOTH

void atan2_f64(size_t n, const double* y, size_t y_step, const double* x, size_t x_step, double* out) {
  for_pairs(n, y, y_step, x, x_step, out, [](F64 a, F64 b) { return atan2(a, b); });
}
void atan2_f32(size_t n, const float* y, size_t y_step, const float* x, size_t x_step, float* out) {
  for_pairs(n, y, y_step, x, x_step, out, [](F64 a, F64 b) { return atan2(a, b); });
}

void log_add_f64(size_t n, const double* a, size_t a_step, const double* b, size_t b_step, double* out) {
  for_pairs(n, a, a_step, b, b_step, out, [](F64 x, F64 y) { return log_add(x, y); });
}
void log2_add_f64(size_t n, const double* a, size_t a_step, const double* b, size_t b_step, double* out) {
  for_pairs(n, a, a_step, b, b_step, out, [](F64 x, F64 y) { return log2_add(x, y); });
}

// The sum of lgamma(x - j / 2) over j < p, and `constant`.
namespace {

template <class T>
RL_INLINE void sum_lgamma(size_t n, const T* x, size_t p, double constant, T* out) {
  for_each(n, x, out, [=](F64 v) {
    F64 sum = splat(constant);
    for (size_t j = 0; j < p; ++j) sum = sum + lgamma(v - 0.5 * static_cast<double>(j));
    return sum;
  });
}

}  // namespace

void sum_lgamma_f64(size_t n, const double* x, size_t p, double constant, double* out) {
  sum_lgamma(n, x, p, constant, out);
}
void sum_lgamma_f32(size_t n, const float* x, size_t p, double constant, float* out) {
  sum_lgamma(n, x, p, constant, out);
}

void elu_f64(size_t n, const double* x, double positive, double negative, double inner, double* out) {
  for_each(n, x, out, [=](F64 v) { return select(v > 0.0, v * positive, expm1(v * inner) * negative); });
}

void logit_f64(size_t n, const double* x, double low, double high, double* out) {
  for_each(n, x, out,
           [=](F64 v) { return logit(select(v < low, splat(low), select(v > high, splat(high), v))); });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
