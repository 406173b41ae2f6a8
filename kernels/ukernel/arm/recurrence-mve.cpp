// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: sigmoid and tanh as in generic/recurrence.cpp. In assembler, as GCC 12 fuses no multiply-adds
// of generic vectors, loads each constant by three instructions and divides through general registers.
#include <arm_mve.h>

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/recurrence.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// The constants of generic/vector_math.h in the order of LDMIA: log2(e), the rounder, ln 2 in two parts
// (negated), and the coefficients of the tail of e^r, highest first; the last one is 0.5.
constexpr float kTable[] = {0x1.715476p+0f,  0x1.8p23f + 127, -0x1.63p-1f,
                            0x1.bd0106p-13f, 0x1.6d724ep-10f, 0x1.122814p-7f,
                            0x1.5554c8p-5f,  0x1.5554b0p-3f,  0.5f};

// e^x = power + power * rest.
struct Exponential {
  float32x4_t power;
  float32x4_t rest;
};

// x is clamped to [-bound, bound]; NaN passes.
RL_INLINE Exponential exponential(float32x4_t x, float bound) {
  Exponential e;
  float32x4_t n;
  const float* table = kTable;
  asm("vpt.f32 gt, %q[x], %[high]\n"
      "vdupt.32 %q[x], %[high]\n"
      "vpt.f32 lt, %q[x], %[low]\n"
      "vdupt.32 %q[x], %[low]\n"
      "ldmia %[table]!, {r2, r3, r4, r5}\n"
      "vmul.f32 %q[n], %q[x], r2\n"
      "vadd.f32 %q[n], %q[n], r3\n"
      "vshl.i32 %q[power], %q[n], #23\n"
      "vsub.f32 %q[n], %q[n], r3\n"
      "vfma.f32 %q[x], %q[n], r4\n"
      "vfma.f32 %q[x], %q[n], r5\n"
      // The tail, by Horner's rule; then rest = r + r^2 tail.
      "ldmia %[table]!, {r2, r3, r4, r5}\n"
      "vdup.32 %q[n], r2\n"
      "vfmas.f32 %q[n], %q[x], r3\n"
      "mov.w r3, #0x3f000000\n"
      "vfmas.f32 %q[n], %q[x], r4\n"
      "vfmas.f32 %q[n], %q[x], r5\n"
      "vfmas.f32 %q[n], %q[x], r3\n"
      "vmul.f32 %q[n], %q[n], %q[x]\n"
      "vfma.f32 %q[x], %q[n], %q[x]\n"
      : [x] "+w"(x), [n] "=&w"(n), [power] "=&w"(e.power), [table] "+&r"(table)
      : [high] "r"(bound), [low] "r"(-bound)
      : "r2", "r3", "r4", "r5", "cc");
  e.rest = x;
  return e;
}

// MVE divides one lane at a time, in the registers that are parts of the vectors.
RL_INLINE float32x4_t quotient(float32x4_t above, float32x4_t below) {
  register float32x4_t a asm("q0") = above;
  register float32x4_t b asm("q1") = below;
  asm("vdiv.f32 s0, s0, s4\n vdiv.f32 s1, s1, s5\n vdiv.f32 s2, s2, s6\n vdiv.f32 s3, s3, s7\n"
      : "+w"(a)
      : "w"(b));
  return a;
}

RL_INLINE F32 gate_of(F32 x, F32 above) {
  const Exponential e = exponential(vnegq_f32((float32x4_t)x), 87);
  const float32x4_t below = vaddq_n_f32(vfmaq_f32(e.power, e.power, e.rest), 1);
  return (F32)quotient((float32x4_t)above, below);
}
RL_INLINE F32 gate_of(F32 x) { return gate_of(x, (F32)vdupq_n_f32(1)); }

RL_INLINE F32 tanh_of(F32 x) {
  const auto v = (float32x4_t)x;
  const Exponential e = exponential(vaddq_f32(v, v), 20);
  const float32x4_t less = vfmaq_f32(vsubq_n_f32(e.power, 1), e.power, e.rest);
  return (F32)quotient(less, vaddq_n_f32(less, 2));
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/recurrence.inl"
