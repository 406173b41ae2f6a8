// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: sigmoid and tanh as in generic/recurrence.cpp. In assembler, as GCC 12 divides vectors through
// general registers.
#include "kernels/ukernel/arm/exponential_mve.h"
#include "kernels/ukernel/recurrence.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// MVE divides one lane at a time, in the registers that are parts of the vectors.
RL_INLINE float32x4_t quotient(float32x4_t above, float32x4_t below) {
  register float32x4_t a asm("q0") = above;
  register float32x4_t b asm("q1") = below;
  asm("vdiv.f32 s0, s0, s4\n vdiv.f32 s1, s1, s5\n vdiv.f32 s2, s2, s6\n vdiv.f32 s3, s3, s7\n"
      : "+w"(a)
      : "w"(b));
  return a;
}

// x, clamped to [-bound, bound]; NaN passes.
RL_INLINE F32 clamped(F32 x, float bound) { return at_least(at_most(x, bound), -bound); }

RL_INLINE F32 gate_of(F32 x, F32 above) {
  const Exponential e = exponential((float32x4_t)clamped((F32)vnegq_f32((float32x4_t)x), 87));
  const float32x4_t below = vaddq_n_f32(vfmaq_f32(e.power, e.power, e.rest), 1);
  return (F32)quotient((float32x4_t)above, below);
}
RL_INLINE F32 gate_of(F32 x) { return gate_of(x, (F32)vdupq_n_f32(1)); }

RL_INLINE F32 tanh_of(F32 x) {
  const auto v = (float32x4_t)x;
  const Exponential e = exponential((float32x4_t)clamped((F32)vaddq_f32(v, v), 20));
  const float32x4_t less = vfmaq_f32(vsubq_n_f32(e.power, 1), e.power, e.rest);
  return (F32)quotient(less, vaddq_n_f32(less, 2));
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/recurrence.inl"
