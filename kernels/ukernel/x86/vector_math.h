// SPDX-License-Identifier: BSD-3-Clause
// Functions of generic/vector_math.h by instructions that only AVX-512 has. A part of that header.
#pragma once

#include <immintrin.h>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// value 2^floor(n), rounded once, for all n: VSCALEFPS. Infinite n give infinity and 0, NaN gives NaN.
RL_INLINE F32 scaled(F32 value, F32 n) {
  return (F32)_mm512_maskz_scalef_ps(kAllFloats, (__m512)value, (__m512)n);
}

// 2^(k / 32) for k from 0 to 31.
alignas(64) inline constexpr float kRootsOf2[32] = {
    0x1p+0f,        0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f, 0x1.172b84p+0f, 0x1.1d4874p+0f,
    0x1.2387a6p+0f, 0x1.29e9ep+0f,  0x1.306fep+0f,  0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f,
    0x1.4bfdaep+0f, 0x1.5342b6p+0f, 0x1.5ab07ep+0f, 0x1.6247ecp+0f, 0x1.6a09e6p+0f, 0x1.71f75ep+0f,
    0x1.7a1148p+0f, 0x1.82589ap+0f, 0x1.8ace54p+0f, 0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f,
    0x1.ae89fap+0f, 0x1.b7f77p+0f,  0x1.c199bep+0f, 0x1.cb720ep+0f, 0x1.d5818ep+0f, 0x1.dfc974p+0f,
    0x1.ea4afap+0f, 0x1.f50766p+0f};

// e^x, by a table in two registers, from which VPERMT2PS selects:
//
//   n = round(32 x / ln 2) / 32,  r = x - n ln 2,  e^x = 2^floor(n) 2^(n - floor(n)) e^r
//
// The low five bits of the shifted sum are 32 times the fraction of n. |r| is at most ln(2) / 64, where the
// Taylor polynomial of degree 3 suffices: four multiply-adds fewer than the generic form. Beyond |x| of about
// 2^17 n is rounded to less than 1/32, and r is large or, for infinities, NaN: VRANGEPS bounds |r|, and takes
// the bound for NaN, so that the factor is positive and n alone decides. NaN returns through n.
RL_INLINE F32 exp(F32 x) {
  constexpr float kShift = 0x1.8p18f;
  constexpr int kSmallerMagnitude = 2;
  const F32 shifted = x * kLog2E + kShift;
  const F32 n = shifted - kShift;
  const F32 rest = (x - n * kLn2High) - n * kLn2Low;
  const F32 r = (F32)_mm512_range_ps((__m512)rest, (__m512)splat(0.0625f), kSmallerMagnitude);
  const F32 root = (F32)_mm512_permutex2var_ps(_mm512_load_ps(kRootsOf2), (__m512i)bits(shifted),
                                               _mm512_load_ps(kRootsOf2 + 16));
  const F32 less_one = ((r * 0x1.555556p-3f + 0.5f) * r + 1.0f) * r;
  return scaled(root * less_one + root, n);
}

// 1 / sqrt(x), by one step of Newton's method from an estimate of 14 bits. The estimates of zeros and
// infinity, which are exact, and of negative values and NaN, which are NaN, stay: the step gives NaN for
// them.
RL_INLINE F32 reciprocal_root(F32 x) {
  const F32 estimate = (F32)_mm512_maskz_rsqrt14_ps(kAllFloats, (__m512)x);
  const F32 error = 1.0f - (x * estimate) * estimate;
  const __mmask16 converges = _mm512_cmp_ps_mask((__m512)error, (__m512)error, _CMP_ORD_Q);
  return (F32)_mm512_mask3_fmadd_ps((__m512)error, (__m512)(estimate * 0.5f), (__m512)estimate, converges);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
