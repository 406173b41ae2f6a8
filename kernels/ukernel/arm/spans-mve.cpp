// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: tail-predicated loops of two to six instructions for four elements. Compilers emit longer ones.
#include "kernels/ukernel/spans.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// WLSTP and LETP mask the last iteration, so that no loop has a remainder; none runs for a count of 0.
#define RL_LOOP(body) "wlstp.32 lr, %[count], 2f\n1:\n" body "letp lr, 1b\n2:\n"

void fill_span(float* to, size_t count, float value) {
  asm volatile("vdup.32 q0, %[value]\n"  //
               RL_LOOP("vstrw.32 q0, [%[to]], #16\n")
               : [to] "+r"(to)
               : [count] "r"(count), [value] "r"(value)
               : "q0", "lr", "cc", "memory");
}

void copy_span(float* to, const float* from, size_t count) {
  asm volatile(RL_LOOP("vldrw.u32 q0, [%[from]], #16\n vstrw.32 q0, [%[to]], #16\n")
               : [to] "+r"(to), [from] "+r"(from)
               : [count] "r"(count)
               : "q0", "lr", "cc", "memory");
}

// Multiplies and adds with one rounding.
void scale_span(float* to, const float* from, size_t count, float scale, float offset) {
  asm volatile("vdup.32 q1, %[scale]\n"  //
               RL_LOOP("vldrw.u32 q0, [%[from]], #16\n vfmas.f32 q0, q1, %[offset]\n"
                       "vstrw.32 q0, [%[to]], #16\n")
               : [to] "+r"(to), [from] "+r"(from)
               : [count] "r"(count), [scale] "r"(scale), [offset] "r"(offset)
               : "q0", "q1", "lr", "cc", "memory");
}

// The condition "gt" is false for NaN, "lt" is not.
void rectify_span(float* to, const float* from, size_t count) {
  asm volatile("vmov.i32 q1, #0\n"  //
               RL_LOOP("vldrw.u32 q0, [%[from]], #16\n vpt.f32 gt, q1, q0\n vmovt q0, q1\n"
                       "vstrw.32 q0, [%[to]], #16\n")
               : [to] "+r"(to), [from] "+r"(from)
               : [count] "r"(count)
               : "q0", "q1", "lr", "cc", "memory");
}

void clamp_span(float* to, const float* from, size_t count, float low, float high) {
  asm volatile("vdup.32 q1, %[low]\n vdup.32 q2, %[high]\n"  //
               RL_LOOP("vldrw.u32 q0, [%[from]], #16\n vpt.f32 gt, q1, q0\n vmovt q0, q1\n"
                       "vpt.f32 gt, q0, q2\n vmovt q0, q2\n vstrw.32 q0, [%[to]], #16\n")
               : [to] "+r"(to), [from] "+r"(from)
               : [count] "r"(count), [low] "r"(low), [high] "r"(high)
               : "q0", "q1", "q2", "lr", "cc", "memory");
}

void add_span(float* to, const float* a, const float* b, size_t count) {
  asm volatile(RL_LOOP("vldrw.u32 q0, [%[a]], #16\n vldrw.u32 q1, [%[b]], #16\n vadd.f32 q0, q0, q1\n"
                       "vstrw.32 q0, [%[to]], #16\n")
               : [to] "+r"(to), [a] "+r"(a), [b] "+r"(b)
               : [count] "r"(count)
               : "q0", "q1", "lr", "cc", "memory");
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
