// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: tail-predicated loops of two to six instructions for four elements. Compilers emit longer ones.
#include <arm_mve.h>

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

// Eight sums, of which the last elements change the first four.
float sum_span(const float* from, size_t count) {
  float32x4_t a = vdupq_n_f32(0), b = a;
  size_t eights = count / 8, rest = count % 8;
  asm volatile(
      "wls lr, %[eights], 2f\n"
      "1:\n"
      "vldrw.u32 q2, [%[from]], #16\n"
      "vadd.f32 %q[a], %q[a], q2\n"
      "vldrw.u32 q3, [%[from]], #16\n"
      "vadd.f32 %q[b], %q[b], q3\n"
      "le lr, 1b\n"
      "2:\n"
      "wlstp.32 lr, %[rest], 4f\n"
      "3:\n"
      "vldrw.u32 q2, [%[from]], #16\n"
      "vadd.f32 %q[a], %q[a], q2\n"
      "letp lr, 3b\n"
      "4:\n"
      : [from] "+r"(from), [a] "+w"(a), [b] "+w"(b)
      : [eights] "r"(eights), [rest] "r"(rest)
      : "q2", "q3", "lr", "cc", "memory");
  a = vaddq_f32(a, b);
  return (a[0] + a[1]) + (a[2] + a[3]);
}

// Eight columns at a time stay in registers, the last four with a mask.
void add_rows(float* sums, const float* row, ptrdiff_t stride, size_t rows, size_t columns) {
  if (rows == 0) return;
  const ptrdiff_t bytes = stride * static_cast<ptrdiff_t>(sizeof(float));
  for (; columns >= 8; columns -= 8, row += 8, sums += 8) {
    float32x4_t a = vld1q_f32(sums), b = vld1q_f32(sums + 4);
    const float* at = row;
    asm volatile(
        "dls lr, %[rows]\n"
        "1:\n"
        "vldrw.u32 q2, [%[at]]\n"
        "vldrw.u32 q3, [%[at], #16]\n"
        "vadd.f32 %q[a], %q[a], q2\n"
        "add %[at], %[bytes]\n"
        "vadd.f32 %q[b], %q[b], q3\n"
        "le lr, 1b\n"
        : [at] "+r"(at), [a] "+w"(a), [b] "+w"(b)
        : [rows] "r"(rows), [bytes] "r"(bytes)
        : "q2", "q3", "lr", "cc", "memory");
    vst1q_f32(sums, a);
    vst1q_f32(sums + 4, b);
  }
  for (size_t x = 0; x < columns; x += 4, row += 4, sums += 4) {
    const mve_pred16_t mask = vctp32q(columns - x);
    float32x4_t a = vld1q_z_f32(sums, mask);
    const float* at = row;
    asm volatile(
        "vmsr p0, %[mask]\n"
        "dls lr, %[rows]\n"
        "1:\n"
        "vpst\n"
        "vldrwt.u32 q2, [%[at]]\n"
        "add %[at], %[bytes]\n"
        "vadd.f32 %q[a], %q[a], q2\n"
        "le lr, 1b\n"
        : [at] "+r"(at), [a] "+w"(a)
        : [rows] "r"(rows), [bytes] "r"(bytes), [mask] "r"(static_cast<uint32_t>(mask))
        : "q2", "lr", "cc", "memory");
    vst1q_p_f32(sums, a, mask);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
