// SPDX-License-Identifier: BSD-3-Clause
// Partial vectors and clamps with the predicates of MVE. GCC compares float vectors of MVE one lane at a
// time. A part of generic/vector.h.
#pragma once

#include <arm_mve.h>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Lanes that are masked off access no memory; loads set them to 0.
RL_INLINE F32 load_partial(const float* from, size_t count) {
  return (F32)vld1q_z_f32(from, vctp32q(static_cast<uint32_t>(count)));
}
RL_INLINE void store_partial(float* to, F32 value, size_t count) {
  vst1q_p_f32(to, (float32x4_t)value, vctp32q(static_cast<uint32_t>(count)));
}

// See generic/vector.h: NaN keeps `value`. Only "greater" is false for NaN; MVE's "less" is the opposite of
// "greater or equal".
RL_INLINE F32 at_least(F32 value, F32 bound) {
  const auto v = (float32x4_t)value;
  const auto b = (float32x4_t)bound;
  return (F32)vpselq_f32(b, v, vcmpgtq_f32(b, v));
}
RL_INLINE F32 at_most(F32 value, F32 bound) {
  const auto v = (float32x4_t)value;
  const auto b = (float32x4_t)bound;
  return (F32)vpselq_f32(b, v, vcmpgtq_f32(v, b));
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
