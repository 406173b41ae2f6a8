// SPDX-License-Identifier: BSD-3-Clause
// Conversions of float16 with VCVTPH2PS and VCVTPS2PH (F16C or AVX-512), one instruction for a vector, which
// GCC does not select for loops. A part of generic/half.inl, which has the code of processors without them.
#pragma once

#include <immintrin.h>

// GCC warns about the undefined operands in its AVX-512 intrinsics (bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Loads kLanes float16 at any alignment: 16 bytes, or 32 with AVX-512. Reads nothing past them.
RL_INLINE F32 load_halves(const void* from) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
#else
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from)));
#endif
}

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

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
