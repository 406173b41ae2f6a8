// SPDX-License-Identifier: BSD-3-Clause
// Products of pairs of bfloat16 with AVX512-BF16: VDPBF16PS. A part of generic/bf16_pairs.h.
#pragma once

#include <immintrin.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

RL_INLINE F32 add_pair_products(F32 sum, I32 a, I32 b) {
  __m512bh left;
  __m512bh right;
  std::memcpy(&left, &a, sizeof(left));
  std::memcpy(&right, &b, sizeof(right));
  return _mm512_dpbf16_ps(sum, left, right);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
