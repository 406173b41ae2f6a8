// SPDX-License-Identifier: BSD-3-Clause
// Converts float16 to vectors of float32 with the instruction that every AArch64 has. A part of
// generic/widen.h.
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
