// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: weights of attention with predicated vectors, since GCC 12 keeps too few of generic vectors in
// registers and compares them one lane at a time.
#include "kernels/ukernel/arm/exponential_mve.h"
#include "kernels/ukernel/attention.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr float kInfinity = __builtin_inff();

RL_INLINE float32x4_t exp_of_negative(float32x4_t x) {
  const Exponential e = exponential((float32x4_t)at_least((F32)x, -88.0f));
  return vfmaq_f32(e.power, e.power, e.rest);
}

// Stores x = scores * scale + mask over the scores; returns the largest of these and `largest`, without NaN.
RL_INLINE float scale_and_mask(size_t n, float* scores, float scale, const float* mask, float largest) {
  float32x4_t most = vdupq_n_f32(largest);
  for (auto left = static_cast<int32_t>(n); left > 0; left -= 4, scores += 4) {
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(left));
    float32x4_t x = vmulq_n_f32(vld1q_z_f32(scores, lanes), scale);
    if (mask != nullptr) {
      x = vaddq_f32(x, vld1q_z_f32(mask, lanes));
      mask += 4;
    }
    vst1q_p_f32(scores, x, lanes);
    most = vmaxnmq_m_f32(most, most, x, lanes);
  }
  return vmaxnmvq_f32(largest, most);
}

}  // namespace

float attention_weights(size_t n, float* scores, float scale, const float* mask, float* shift, float* sum) {
  const float before = *shift;
  const float largest = scale_and_mask(n, scores, scale, mask, before);
  const float subtracted = largest == -kInfinity ? 0.0f : largest;
  float32x4_t sums = vdupq_n_f32(0);
  for (auto left = static_cast<int32_t>(n); left > 0; left -= 4, scores += 4) {
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(left));
    const float32x4_t weights = exp_of_negative(vsubq_n_f32(vld1q_z_f32(scores, lanes), subtracted));
    vst1q_p_f32(scores, weights, lanes);
    sums = vaddq_m_f32(sums, sums, weights, lanes);
  }
  // Before the first block there is nothing to rescale, and -inf - (-inf) would be NaN.
  float factor = 1;
  if (before != -kInfinity && before != largest) {
    factor = vgetq_lane_f32(exp_of_negative(vdupq_n_f32(before - subtracted)), 0);
  }
  *shift = largest;
  *sum = *sum * factor + sum_of_lanes((F32)sums);
  return factor;
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/attention_rows.inl"
