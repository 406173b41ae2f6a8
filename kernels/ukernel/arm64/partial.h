// SPDX-License-Identifier: BSD-3-Clause
// Partial vectors by halves and lanes, in at most two loads or stores. A part of generic/vector.h, which has
// the contract.
#pragma once

#include <arm_neon.h>

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

RL_INLINE F32 load_partial(const float* from, size_t count) {
  if (count >= kLanes) return load(from);
  float32x4_t value = vdupq_n_f32(0.0f);
  if ((count & 2) != 0) {
    value = vcombine_f32(vld1_f32(from), vget_low_f32(value));
    if ((count & 1) != 0) value = vld1q_lane_f32(from + 2, value, 2);
  } else if (count != 0) {
    value = vld1q_lane_f32(from, value, 0);
  }
  return reinterpret_cast<F32>(value);
}
RL_INLINE void store_partial(float* to, F32 value, size_t count) {
  if (count >= kLanes) return store(to, value);
  const auto lanes = reinterpret_cast<float32x4_t>(value);
  if ((count & 2) != 0) {
    vst1_f32(to, vget_low_f32(lanes));
    if ((count & 1) != 0) vst1q_lane_f32(to + 2, lanes, 2);
  } else if (count != 0) {
    vst1q_lane_f32(to, lanes, 0);
  }
}
RL_INLINE F64 load_partial(const double* from, size_t count) {
  if (count >= kWideLanes) return load(from);
  const float64x2_t zero = vdupq_n_f64(0.0);
  return reinterpret_cast<F64>(count == 0 ? zero : vld1q_lane_f64(from, zero, 0));
}
RL_INLINE void store_partial(double* to, F64 value, size_t count) {
  if (count >= kWideLanes) return store(to, value);
  if (count != 0) vst1q_lane_f64(to, reinterpret_cast<float64x2_t>(value), 0);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
