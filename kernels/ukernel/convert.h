// SPDX-License-Identifier: BSD-3-Clause
// Converts spans of n elements to another type: out[i] = x[i], with the results of PyTorch's `to`. Any n,
// alignment of the element types; the arrays do not overlap. All variants give the same bits.
//
// Float16 and bfloat16 are passed as bits in uint16_t. Conversions to them round to nearest, halves to even;
// NaN becomes the quiet NaN. Conversions from floats to integers truncate; NaN and values outside of int64
// become the least int64, and smaller types take its low bits. Any nonzero bool byte counts as 1; to bool,
// any nonzero value, NaN too, is 1.
//
// Affine quantization: quantized = round(x * inverse_scale) + zero_point, clamped to [low, high], halves to
// even, in float32 with each step rounded separately; NaN becomes 0. Dequantization: x = (quantized -
// zero_point) * scale.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

#define RL_CONVERSION(name, From, To) \
  RL_UKERNEL_EXACT(void, name, (size_t n, const From* x, To* out), (n, x, out))
#define RL_QUANTIZATION(quantize, dequantize, T)                                                        \
  RL_UKERNEL_EXACT(void, quantize, (size_t n, const float* x, const Quantization& how, T* out),         \
                   (n, x, how, out))                                                                    \
  RL_UKERNEL_EXACT(void, dequantize, (size_t n, const T* x, float scale, float zero_point, float* out), \
                   (n, x, scale, zero_point, out))

namespace rushlight::ukernel {

// 16-bit floats. NaN becomes 0x7e00 with its sign as float16, and 0x7fc0 without a sign as bfloat16. To
// float32 they are exact.
RL_CONVERSION(half_to_f32, uint16_t, float)
RL_CONVERSION(f32_to_half, float, uint16_t)
RL_CONVERSION(bfloat16_to_f32, uint16_t, float)
RL_CONVERSION(f32_to_bfloat16, float, uint16_t)
// Rounds to nearest, halves to even, where float32 cannot hold the value; infinities stay.
RL_CONVERSION(f64_to_f32, double, float)
RL_CONVERSION(f32_to_f64, float, double)
RL_CONVERSION(u8_to_f32, uint8_t, float)
RL_CONVERSION(f32_to_u8, float, uint8_t)
RL_CONVERSION(i8_to_f32, int8_t, float)
RL_CONVERSION(f32_to_i8, float, int8_t)
RL_CONVERSION(i32_to_f32, int32_t, float)
RL_CONVERSION(f32_to_i32, float, int32_t)
RL_CONVERSION(i64_to_f32, int64_t, float)
RL_CONVERSION(f32_to_i64, float, int64_t)
// One byte for each bool. int64 to int32 keeps the low bits.
RL_CONVERSION(bool_to_f32, uint8_t, float)
RL_CONVERSION(f32_to_bool, float, uint8_t)
RL_CONVERSION(bool_to_i64, uint8_t, int64_t)
RL_CONVERSION(i64_to_bool, int64_t, uint8_t)
RL_CONVERSION(i32_to_i64, int32_t, int64_t)
RL_CONVERSION(i64_to_i32, int64_t, int32_t)

// Parameters of a quantization as floats, so that the loop converts only once, at its end. zero_point, low
// and high are integers in the range of the element type. The inverse is passed, not the scale, because a
// product and a quotient round differently: PyTorch multiplies by the inverse.
struct Quantization {
  float inverse_scale;
  float zero_point;
  float low;
  float high;
};

// quantize: float32 to T by `how`. dequantize: T to float32; the difference is exact, the product is rounded
// once.
RL_QUANTIZATION(quantize_u8, dequantize_u8, uint8_t)
RL_QUANTIZATION(quantize_i8, dequantize_i8, int8_t)
RL_QUANTIZATION(quantize_u16, dequantize_u16, uint16_t)
RL_QUANTIZATION(quantize_i16, dequantize_i16, int16_t)

}  // namespace rushlight::ukernel

#undef RL_CONVERSION
#undef RL_QUANTIZATION
