// SPDX-License-Identifier: BSD-3-Clause
// Functions of generic/wide_math.h by instructions that AVX2 and AVX-512 have. A part of that header.
#pragma once

#include <immintrin.h>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#if !defined(__AVX512F__)
RL_INLINE F64 square_root(F64 value) { return (F64)_mm256_sqrt_pd((__m256d)value); }
#else
// The square root, rounded once. Three steps of Goldschmidt's method from an estimate of 14 bits, of which
// the last one rounds as Markstein proved ("Computation of elementary functions on the IBM RISC System/6000
// processor", 1990): a quarter of the time of the instruction, which is left to vectors with elements beyond
// the range where no product leaves the normal numbers, with zeros, infinities and NaN.
RL_INLINE F64 square_root(F64 value) {
  const __m512d x = (__m512d)value;
  const __mmask8 ordinary = _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p-900), _CMP_GE_OQ) &
                            _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p1000), _CMP_LE_OQ);
  if (__builtin_expect(ordinary != 0xff, 0)) return (F64)_mm512_maskz_sqrt_pd(0xff, x);
  const __m512d half = _mm512_set1_pd(0.5);
  const __m512d estimate = _mm512_maskz_rsqrt14_pd(0xff, x);
  __m512d root = (__m512d)((F64)x * (F64)estimate);
  __m512d inverse = (__m512d)((F64)half * (F64)estimate);  // half of it
  for (int step = 0; step < 2; ++step) {
    const __m512d error = _mm512_fnmadd_pd(root, inverse, half);
    root = _mm512_fmadd_pd(root, error, root);
    inverse = _mm512_fmadd_pd(inverse, error, inverse);
  }
  return (F64)_mm512_fmadd_pd(_mm512_fnmadd_pd(root, root, x), inverse, root);
}

// True if an element is above the limit.
RL_INLINE bool any_beyond(F64 value, double limit) {
  return _mm512_cmp_pd_mask((__m512d)value, _mm512_set1_pd(limit), _CMP_GT_OQ) != 0;
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
