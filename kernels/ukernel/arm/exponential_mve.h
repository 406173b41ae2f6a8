// SPDX-License-Identifier: BSD-3-Clause
// e^x of four floats on Helium (Cortex-M55), for sources that are compiled for it. In assembler, as GCC 12
// fuses no multiply-adds of generic vectors and loads each constant by three instructions.
#pragma once

#include <arm_mve.h>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// The constants of generic/vector_math.h in the order of LDMIA: log2(e), the rounder, ln 2 in two parts
// (negated), and the coefficients of the tail of e^r, highest first; the last one is 0.5.
inline constexpr float kExponentialTable[] = {0x1.715476p+0f,  0x1.8p23f + 127, -0x1.63p-1f,
                                              0x1.bd0106p-13f, 0x1.6d724ep-10f, 0x1.122814p-7f,
                                              0x1.5554c8p-5f,  0x1.5554b0p-3f,  0.5f};

// e^x = power + power * rest.
struct Exponential {
  float32x4_t power;
  float32x4_t rest;
};

// For x from -88 to 88, or NaN. From about -87.7 down, where the exponent of `power` has the bits of 0, e^x
// is 0. The assembler uses no predicates, which GCC does not know as clobbered.
RL_INLINE Exponential exponential(float32x4_t x) {
  Exponential e;
  float32x4_t n;
  const float* table = kExponentialTable;
  asm("ldmia %[table]!, {r2, r3, r4, r5}\n"
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
      :
      : "r2", "r3", "r4", "r5", "cc");
  e.rest = x;
  return e;
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
