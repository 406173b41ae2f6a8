// SPDX-License-Identifier: BSD-3-Clause
// Conversions as branch-free loops, which compilers vectorize. A source with its own quantize_i8() and
// dequantize_i8() defines RL_OWN_INT8 before it includes this.
#include <cstring>

#include "kernels/ukernel/convert.h"
#include "kernels/ukernel/generic/half.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE uint16_t bfloat16_pattern(float value) {
  const uint32_t wide = pattern_of(value);
  const uint32_t rounded = (wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((wide & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

RL_INLINE int64_t whole(float value) {
  const bool fits = value >= -0x1p63f && value < 0x1p63f;
  return fits ? static_cast<int64_t>(value) : INT64_MIN;
}

// Rounds to nearest, halves to even. Values from 2^23 on are integers already.
RL_INLINE float nearest(float value) {
  const float magnitude = __builtin_fabsf(value);
  const float rounded = (magnitude + 0x1p23f) - 0x1p23f;
  return __builtin_copysignf(magnitude < 0x1p23f ? rounded : magnitude, value);
}

template <class T>
RL_INLINE void quantize(size_t n, const float* x, const Quantization& how, T* out) {
  const Quantization by = how;  // a copy, which `out` cannot alias
  for (size_t i = 0; i < n; ++i) {
    float value = nearest(x[i] * by.inverse_scale) + by.zero_point;
    value = value < by.low ? by.low : value;
    value = value > by.high ? by.high : value;
    value = value != value ? 0.0f : value;
    out[i] = static_cast<T>(static_cast<int32_t>(value));
  }
}

template <class T>
RL_INLINE void dequantize(size_t n, const T* x, float scale, float zero_point, float* out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = (static_cast<float>(static_cast<int32_t>(x[i])) - zero_point) * scale;
  }
}

}  // namespace

#define RL_CONVERSION(name, From, To, result)                         \
  void name(size_t n, const From* __restrict x, To* __restrict out) { \
    for (size_t i = 0; i < n; ++i) {                                  \
      const From v = x[i];                                            \
      out[i] = static_cast<To>(result);                               \
    }                                                                 \
  }

#if RL_STORES_HALVES
// The last vector may overlap the one before.
template <class Convert>
RL_INLINE void convert_vectors(size_t n, Convert convert) {
  size_t i = 0;
  _Pragma("GCC unroll 2") for (; n - i >= kLanes; i += kLanes) convert(i);
  if (i < n) convert(n - kLanes);
}

void half_to_f32(size_t n, const uint16_t* __restrict x, float* __restrict out) {
  if (n >= kLanes) return convert_vectors(n, [&](size_t i) { store(out + i, load_halves(x + i)); });
  for (size_t i = 0; i < n; ++i) out[i] = half_value(x[i]);
}

void f32_to_half(size_t n, const float* __restrict x, uint16_t* __restrict out) {
  if (n >= kLanes) return convert_vectors(n, [&](size_t i) { store_halves(out + i, load(x + i)); });
  for (size_t i = 0; i < n; ++i) out[i] = half_pattern(x[i]);
}
#else
RL_CONVERSION(half_to_f32, uint16_t, float, half_value(v))
RL_CONVERSION(f32_to_half, float, uint16_t, half_pattern(v))
#endif
RL_CONVERSION(bfloat16_to_f32, uint16_t, float, of_pattern(static_cast<uint32_t>(v) << 16))
RL_CONVERSION(f32_to_bfloat16, float, uint16_t, bfloat16_pattern(v))
RL_CONVERSION(f64_to_f32, double, float, v)
RL_CONVERSION(f32_to_f64, float, double, v)
RL_CONVERSION(u8_to_f32, uint8_t, float, static_cast<int32_t>(v))
RL_CONVERSION(f32_to_u8, float, uint8_t, whole(v))
RL_CONVERSION(i8_to_f32, int8_t, float, static_cast<int32_t>(v))
RL_CONVERSION(f32_to_i8, float, int8_t, whole(v))
RL_CONVERSION(i32_to_f32, int32_t, float, v)
RL_CONVERSION(f32_to_i32, float, int32_t, whole(v))
RL_CONVERSION(i64_to_f32, int64_t, float, v)
RL_CONVERSION(f32_to_i64, float, int64_t, whole(v))
RL_CONVERSION(bool_to_f32, uint8_t, float, v != 0 ? 1.0f : 0.0f)
RL_CONVERSION(f32_to_bool, float, uint8_t, v != 0)
RL_CONVERSION(bool_to_i64, uint8_t, int64_t, v != 0)
RL_CONVERSION(i64_to_bool, int64_t, uint8_t, v != 0)
RL_CONVERSION(i32_to_i64, int32_t, int64_t, v)
RL_CONVERSION(i64_to_i32, int64_t, int32_t, v)
#undef RL_CONVERSION

#define RL_QUANTIZATION(T, suffix)                                                                          \
  void quantize_##suffix(size_t n, const float* __restrict x, const Quantization& how, T* __restrict out) { \
    quantize(n, x, how, out);                                                                               \
  }                                                                                                         \
  void dequantize_##suffix(size_t n, const T* __restrict x, float scale, float zero_point,                  \
                           float* __restrict out) {                                                         \
    dequantize(n, x, scale, zero_point, out);                                                               \
  }
RL_QUANTIZATION(uint8_t, u8)
#ifndef RL_OWN_INT8
RL_QUANTIZATION(int8_t, i8)
#endif
RL_QUANTIZATION(uint16_t, u16)
RL_QUANTIZATION(int16_t, i16)
#undef RL_QUANTIZATION

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
