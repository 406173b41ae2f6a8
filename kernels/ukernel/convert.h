// SPDX-License-Identifier: BSD-3-Clause
// Converts spans of n elements to another type: out[i] = x[i], as PyTorch's `to` has it. The arrays do not
// overlap, any alignment that the types have, any n.
//
// Half and bfloat16 come as their bits; to them numbers are rounded to nearest even, NaN becomes the quiet
// one. Floating numbers lose their fraction in integers: NaN and what int64 does not hold is the least int64,
// whose low bits smaller types take. Bytes of bool that are not 0 are 1; to bool, whatever is not 0 is, NaN
// too.
//
// Affine quantization: quantized = round(x inverse_scale) + zero_point, from `low` to `high`, rounded half to
// even, in float32, each step rounded by itself; 0 of NaN. x = (quantized - zero_point) scale.
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

RL_CONVERSION(half_to_f32, uint16_t, float)
RL_CONVERSION(f32_to_half, float, uint16_t)
RL_CONVERSION(bfloat16_to_f32, uint16_t, float)
RL_CONVERSION(f32_to_bfloat16, float, uint16_t)
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
RL_CONVERSION(bool_to_f32, uint8_t, float)
RL_CONVERSION(f32_to_bool, float, uint8_t)
RL_CONVERSION(bool_to_i64, uint8_t, int64_t)
RL_CONVERSION(i64_to_bool, int64_t, uint8_t)
RL_CONVERSION(i32_to_i64, int32_t, int64_t)
RL_CONVERSION(i64_to_i32, int64_t, int32_t)

struct Quantization {
  float inverse_scale;
  float zero_point;
  float low;
  float high;
};

RL_QUANTIZATION(quantize_u8, dequantize_u8, uint8_t)
RL_QUANTIZATION(quantize_i8, dequantize_i8, int8_t)
RL_QUANTIZATION(quantize_u16, dequantize_u16, uint16_t)
RL_QUANTIZATION(quantize_i16, dequantize_i16, int16_t)

}  // namespace rushlight::ukernel

#undef RL_CONVERSION
#undef RL_QUANTIZATION
