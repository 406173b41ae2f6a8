// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of int8 with WebAssembly SIMD, 8 channels of all pixels at a time, so that the
// constants of the requantization are prepared once. Two taps are interleaved for i32x4.dot_i16x8_s.
#include <cstring>

#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/wasm/requantize_simd.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Unaligned loads of 1 or 4 bytes, zero-extended.
template <class T>
RL_INLINE uint64_t load_bits(const int8_t* from) {
  T bits;
  std::memcpy(&bits, from, sizeof(bits));
  return bits;
}

// Loads 1 to 8 elements as int16; the others are 0.
RL_INLINE v128_t load_some(const int8_t* from, size_t count) {
  if (count == kBlock) return wasm_i16x8_load8x8(from);
  uint64_t bits;
  if (count >= 4) {  // two loads that overlap
    bits = load_bits<uint32_t>(from) | load_bits<uint32_t>(from + count - 4) << (8 * count - 32);
  } else {
    bits = load_bits<uint8_t>(from) | load_bits<uint8_t>(from + count / 2) << (count / 2 * 8) |
           load_bits<uint8_t>(from + count - 1) << (8 * count - 8);
  }
  return wasm_i16x8_extend_low_i8x16(wasm_i64x2_splat(static_cast<int64_t>(bits)));
}

// a[0], b[0], a[1], ... of the lower or upper half.
RL_INLINE v128_t interleave_low(v128_t a, v128_t b) {
  return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
RL_INLINE v128_t interleave_high(v128_t a, v128_t b) {
  return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

// kBlock channels of all pixels from channel c on, or with kWhole = false the remaining ones.
template <bool kWhole>
void filter(const Int8Depthwise& strip, size_t c) {
  const size_t count = kWhole ? kBlock : strip.channels - c;
  BlockQuantizer q;
  prepare(q, strip.to, strip.bias, c, count);
  const int8_t* const* in = strip.in;
  int8_t* out = strip.out + c;
  for (size_t p = 0; p < strip.pixels; ++p, in += strip.taps, out += strip.out_stride) {
    v128_t low = wasm_v128_load(q.bias), high = wasm_v128_load(q.bias + 4);
    const int8_t* weights = strip.weights + c;
    size_t t = 0;
    for (; t + 2 <= strip.taps; t += 2, weights += 2 * strip.weight_stride) {
      const v128_t a = load_some(in[t] + c, count), b = load_some(in[t + 1] + c, count);
      const v128_t u = load_some(weights, count), v = load_some(weights + strip.weight_stride, count);
      low = wasm_i32x4_add(low, wasm_i32x4_dot_i16x8(interleave_low(a, b), interleave_low(u, v)));
      high = wasm_i32x4_add(high, wasm_i32x4_dot_i16x8(interleave_high(a, b), interleave_high(u, v)));
    }
    if (t < strip.taps) {
      const v128_t a = load_some(in[t] + c, count), u = load_some(weights, count);
      // An odd last tap.
      low = wasm_i32x4_add(low, wasm_i32x4_extmul_low_i16x8(a, u));
      high = wasm_i32x4_add(high, wasm_i32x4_extmul_high_i16x8(a, u));
    }
    store_some(out, quantize(q, low, high), count);
  }
}

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) {
  size_t c = 0;
  for (; c + kBlock <= strip.channels; c += kBlock) filter<true>(strip, c);
  if (c < strip.channels) filter<false>(strip, c);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
