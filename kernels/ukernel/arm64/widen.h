// SPDX-License-Identifier: BSD-3-Clause
// Converts float16 to vectors of float32 with FCVTL, which every AArch64 has: no FEAT_FP16 is needed, which
// adds arithmetic. Exact; the result of a signaling NaN is quiet. A part of generic/widen.h, which defines
// the other conversions.
#pragma once

#include <arm_neon.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Reads four float16, at any alignment of uint16_t.
RL_INLINE F32 load_widened_half(const uint16_t* from) {
  const float32x4_t wide = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  F32 result;
  std::memcpy(&result, &wide, sizeof(result));
  return result;
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
