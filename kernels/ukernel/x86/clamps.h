// SPDX-License-Identifier: BSD-3-Clause
// Clamps by MINPS and MAXPS, which return their second operand if one is NaN or both are zeros: the rules of
// generic/vector.h. One instruction; compilers make a comparison and a blend of the generic form, and the
// comparison competes with multiply-adds. A part of generic/vector.h.
#pragma once

#include <immintrin.h>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#if defined(__AVX512F__)
// The forms with a mask of all lanes make the same instruction; GCC 12 warns of an unset value in the others.
inline constexpr __mmask8 kAllDoubles = 0xff;
inline constexpr __mmask16 kAllFloats = 0xffff;
RL_INLINE F32 at_least(F32 value, F32 bound) {
  return (F32)_mm512_maskz_max_ps(kAllFloats, (__m512)bound, (__m512)value);
}
RL_INLINE F32 at_most(F32 value, F32 bound) {
  return (F32)_mm512_maskz_min_ps(kAllFloats, (__m512)bound, (__m512)value);
}
RL_INLINE F64 at_least(F64 value, F64 bound) {
  return (F64)_mm512_maskz_max_pd(kAllDoubles, (__m512d)bound, (__m512d)value);
}
RL_INLINE F64 at_most(F64 value, F64 bound) {
  return (F64)_mm512_maskz_min_pd(kAllDoubles, (__m512d)bound, (__m512d)value);
}
#elif defined(__AVX__)
RL_INLINE F32 at_least(F32 value, F32 bound) { return (F32)_mm256_max_ps((__m256)bound, (__m256)value); }
RL_INLINE F32 at_most(F32 value, F32 bound) { return (F32)_mm256_min_ps((__m256)bound, (__m256)value); }
RL_INLINE F64 at_least(F64 value, F64 bound) { return (F64)_mm256_max_pd((__m256d)bound, (__m256d)value); }
RL_INLINE F64 at_most(F64 value, F64 bound) { return (F64)_mm256_min_pd((__m256d)bound, (__m256d)value); }
#else
RL_INLINE F32 at_least(F32 value, F32 bound) { return (F32)_mm_max_ps((__m128)bound, (__m128)value); }
RL_INLINE F32 at_most(F32 value, F32 bound) { return (F32)_mm_min_ps((__m128)bound, (__m128)value); }
RL_INLINE F64 at_least(F64 value, F64 bound) { return (F64)_mm_max_pd((__m128d)bound, (__m128d)value); }
RL_INLINE F64 at_most(F64 value, F64 bound) { return (F64)_mm_min_pd((__m128d)bound, (__m128d)value); }
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
