// SPDX-License-Identifier: BSD-3-Clause
// Conversions of float16 with FCVTL and FCVTN, which every AArch64 has: FEAT_FP16 adds arithmetic only. A
// part of generic/half.inl and of generic/widen.h.
#pragma once

#include <arm_neon.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Loads four float16 at any alignment. Exact; the result of a signaling NaN is quiet.
RL_INLINE F32 load_halves(const void* from) {
  uint16x4_t halves;
  std::memcpy(&halves, from, sizeof(halves));
  return vcvt_f32_f16(vreinterpret_f16_u16(halves));
}

// Rounds to nearest, halves to even. FCVTN keeps other bits of a NaN, which is above 0x7e00.
RL_INLINE void store_halves(uint16_t* to, F32 value) {
  const uint16x4_t halves = vreinterpret_u16_f16(vcvt_f16_f32(value));
  const uint16x4_t magnitudes = vmin_u16(vand_u16(halves, vdup_n_u16(0x7fff)), vdup_n_u16(0x7e00));
  vst1_u16(to, vbsl_u16(vdup_n_u16(0x8000), halves, magnitudes));
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
