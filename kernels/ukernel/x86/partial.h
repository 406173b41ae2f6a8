// SPDX-License-Identifier: BSD-3-Clause
// Masked loads and stores of partial vectors, instead of copies through the stack. Lanes that are masked off
// access no memory and cannot fault, so that a partial vector may end at the end of a page. Loads set them to
// 0. And permutations of lanes. A part of generic/vector.h.
#pragma once

#include <immintrin.h>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#if defined(__AVX512F__)
// The mask of the first `count` <= 16 lanes, in a mask register.
RL_INLINE __mmask16 first_lanes(size_t count) { return static_cast<__mmask16>((1u << count) - 1); }
RL_INLINE F32 load_partial(const float* from, size_t count) {
  return _mm512_maskz_loadu_ps(first_lanes(count), from);
}
RL_INLINE void store_partial(float* to, F32 value, size_t count) {
  _mm512_mask_storeu_ps(to, first_lanes(count), value);
}
RL_INLINE F64 load_partial(const double* from, size_t count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>(first_lanes(count)), from);
}
RL_INLINE void store_partial(double* to, F64 value, size_t count) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first_lanes(count)), value);
}
RL_INLINE F32 permuted(F32 value, I32 index) {
  return _mm512_maskz_permutexvar_ps(0xffff, reinterpret_cast<__m512i>(index), value);
}
#else
// The mask of the first `count` <= 8 lanes: VMASKMOV takes the sign bit of each 32-bit lane.
RL_INLINE __m256i first_lanes(size_t count) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), index);
}
RL_INLINE F32 load_partial(const float* from, size_t count) {
  return _mm256_maskload_ps(from, first_lanes(count));
}
RL_INLINE void store_partial(float* to, F32 value, size_t count) {
  _mm256_maskstore_ps(to, first_lanes(count), value);
}
// The mask of the first `count` <= 4 lanes of doubles.
RL_INLINE __m256i first_wide_lanes(size_t count) {
  const __m256i index = _mm256_setr_epi64x(0, 1, 2, 3);
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(count)), index);
}
RL_INLINE F64 load_partial(const double* from, size_t count) {
  return _mm256_maskload_pd(from, first_wide_lanes(count));
}
RL_INLINE void store_partial(double* to, F64 value, size_t count) {
  _mm256_maskstore_pd(to, first_wide_lanes(count), value);
}
RL_INLINE F32 permuted(F32 value, I32 index) {
  return _mm256_permutevar8x32_ps(value, reinterpret_cast<__m256i>(index));
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
