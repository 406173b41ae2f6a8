// SPDX-License-Identifier: BSD-3-Clause
// Clamps by FMAX and FMIN, which propagate NaN and order -0 before 0. One instruction; compilers make a
// comparison and a selection of the generic form. A part of generic/vector.h, which has the contract.
#pragma once

#include <arm_neon.h>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

RL_INLINE F32 at_least(F32 value, F32 bound) {
  return reinterpret_cast<F32>(
      vmaxq_f32(reinterpret_cast<float32x4_t>(value), reinterpret_cast<float32x4_t>(bound)));
}
RL_INLINE F32 at_most(F32 value, F32 bound) {
  return reinterpret_cast<F32>(
      vminq_f32(reinterpret_cast<float32x4_t>(value), reinterpret_cast<float32x4_t>(bound)));
}
RL_INLINE F64 at_least(F64 value, F64 bound) {
  return reinterpret_cast<F64>(
      vmaxq_f64(reinterpret_cast<float64x2_t>(value), reinterpret_cast<float64x2_t>(bound)));
}
RL_INLINE F64 at_most(F64 value, F64 bound) {
  return reinterpret_cast<F64>(
      vminq_f64(reinterpret_cast<float64x2_t>(value), reinterpret_cast<float64x2_t>(bound)));
}
RL_INLINE F32 rectified(F32 value) { return select(value < 0.0f, splat(0.0f), value); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
