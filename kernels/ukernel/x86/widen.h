// SPDX-License-Identifier: BSD-3-Clause
// Vectors of int32 from int8, and of float32 from float16, with AVX2 or AVX-512: GCC 12 converts such vectors
// element by element. One load and one conversion each (VPMOVSXBD, VCVTPH2PS). A part of generic/widen.h.
//
// The loads need no alignment and read exactly kLanes elements.
#pragma once

#include <immintrin.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

RL_INLINE I32 load_widened_int8(const int8_t* from) {
  I32 result;
#if defined(__AVX512F__)
  // Masked, since GCC warns about the undefined operand of the other intrinsic (bug 105593).
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m512i wide = _mm512_maskz_cvtepi8_epi32(0xffff, bytes);
#else
  const __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
#endif
  std::memcpy(&result, &wide, sizeof(result));
  return result;
}

#if defined(__F16C__)
// Reads 16 bytes, or 32 with AVX-512.
RL_INLINE F32 load_widened_half(const uint16_t* from) {
  F32 result;
#if defined(__AVX512F__)
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m512 wide = _mm512_maskz_cvtph_ps(0xffff, halves);
#else
  const __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
  std::memcpy(&result, &wide, sizeof(result));
  return result;
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
