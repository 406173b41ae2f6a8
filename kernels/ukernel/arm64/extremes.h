// SPDX-License-Identifier: BSD-3-Clause
// FMAX and FMIN, which propagate NaN. A part of generic/extremes.h.
#pragma once

#include <arm_neon.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

RL_INLINE F32 larger(F32 best, F32 value) {
  return reinterpret_cast<F32>(
      vmaxq_f32(reinterpret_cast<float32x4_t>(best), reinterpret_cast<float32x4_t>(value)));
}
RL_INLINE F32 smaller(F32 best, F32 value) {
  return reinterpret_cast<F32>(
      vminq_f32(reinterpret_cast<float32x4_t>(best), reinterpret_cast<float32x4_t>(value)));
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
