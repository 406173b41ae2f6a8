// SPDX-License-Identifier: BSD-3-Clause
// Vectors of float32 from float16, which every AArch64 converts. A part of generic/widen.h.
#pragma once

#include <arm_neon.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

RL_INLINE F32 load_widened_half(const uint16_t* from) {
  const float32x4_t wide = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  F32 result;
  std::memcpy(&result, &wide, sizeof(result));
  return result;
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
