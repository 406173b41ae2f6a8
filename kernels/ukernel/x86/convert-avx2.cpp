// SPDX-License-Identifier: BSD-3-Clause
// Conversions between float16 and float32 with F16C: one instruction for a vector, which GCC does not select
// for the loops of generic/convert.inl. The other conversions are these loops.
#include <immintrin.h>

#define RL_OWN_HALF
#include "kernels/ukernel/generic/convert.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Rounds to nearest, halves to even. NaN becomes the quiet NaN of its sign first, since VCVTPS2PH keeps other
// bits of it.
RL_INLINE void store_halves(uint16_t* to, F32 value) {
  const I32 quiet = (bits(value) & splat(INT32_MIN)) | splat(int32_t{0x7fc00000});
  const F32 number = select(value != value, from_bits(quiet), value);
#if defined(__AVX512F__)
  const __m256i halves =
      _mm512_maskz_cvtps_ph(0xffff, (__m512)number, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
#else
  const __m128i halves = _mm256_cvtps_ph((__m256)number, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), halves);
#endif
}

}  // namespace

void half_to_f32(size_t n, const uint16_t* __restrict x, float* __restrict out) {
  size_t i = 0;
  for (; n - i >= kLanes; i += kLanes) store(out + i, load_halves(x + i));
  for (; i < n; ++i) out[i] = half_value(x[i]);
}

void f32_to_half(size_t n, const float* __restrict x, uint16_t* __restrict out) {
  size_t i = 0;
  for (; n - i >= kLanes; i += kLanes) store_halves(out + i, load(x + i));
  for (; i < n; ++i) out[i] = half_pattern(x[i]);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
