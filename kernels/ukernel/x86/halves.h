// SPDX-License-Identifier: BSD-3-Clause
// Converts float16 to float32 with VCVTPH2PS (F16C or AVX-512), exactly and in one instruction. A part of
// generic/half.inl, which has the code of processors without it.
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

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
