// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4F, M7F and M33F: loads and stores of several registers, which compilers do not emit. Eight floats
// a pass; ReLU works on four words in general registers. Without an FPU the scalar code remains.
#include <cstdint>

#include "kernels/ukernel/spans.h"
#ifdef __ARM_FP
#define RL_OWN_SPANS
#define RL_OWN_RECTIFY
#endif
#include "kernels/ukernel/generic/spans.inl"

#ifdef __ARM_FP

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#define RL_EIGHT "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15"
// Runs the body for each eight of `count` elements.
#define RL_LOOP(body)             \
  "subs %[count], %[count], #8\n" \
  "blt 2f\n"                      \
  "1:\n" body                     \
  "subs %[count], %[count], #8\n" \
  "bge 1b\n"                      \
  "2:\n"

}  // namespace

// Elements after the last eight take scalar code, here and below.
void fill_span(float* to, size_t count, float value) {
  const size_t rest = count % 8;
  asm volatile(
      "vmov s8, %[value]\n vmov.f32 s9, s8\n vmov.f32 s10, s8\n vmov.f32 s11, s8\n"
      "vmov.f32 s12, s8\n vmov.f32 s13, s8\n vmov.f32 s14, s8\n vmov.f32 s15, s8\n"  //
      RL_LOOP("vstmia %[to]!, {s8-s15}\n")
      : [to] "+r"(to), [count] "+r"(count)
      : [value] "r"(value)
      : RL_EIGHT, "cc", "memory");
  for (size_t i = 0; i < rest; ++i) to[i] = value;
}

void copy_span(float* to, const float* from, size_t count) {
  const size_t rest = count % 8;
  asm volatile(RL_LOOP("vldmia %[from]!, {s8-s15}\n vstmia %[to]!, {s8-s15}\n")
               : [to] "+r"(to), [from] "+r"(from), [count] "+r"(count)
               :
               : RL_EIGHT, "cc", "memory");
  for (size_t i = 0; i < rest; ++i) to[i] = from[i];
}

// Product and sum are rounded separately. Eight elements hide the latency of both.
void scale_span(float* to, const float* from, size_t count, float scale, float offset) {
  const size_t rest = count % 8;
#define RL_SCALE(number) "vmul.f32 " number ", " number ", %[scale]\n"
#define RL_SHIFT(number) "vadd.f32 " number ", " number ", %[offset]\n"
  asm volatile(RL_LOOP("vldmia %[from]!, {s8-s15}\n"                                    //
                       RL_SCALE("s8") RL_SCALE("s9") RL_SCALE("s10") RL_SCALE("s11")    //
                       RL_SCALE("s12") RL_SCALE("s13") RL_SCALE("s14") RL_SCALE("s15")  //
                       RL_SHIFT("s8") RL_SHIFT("s9") RL_SHIFT("s10") RL_SHIFT("s11")    //
                       RL_SHIFT("s12") RL_SHIFT("s13") RL_SHIFT("s14") RL_SHIFT("s15")  //
                       "vstmia %[to]!, {s8-s15}\n")
               : [to] "+r"(to), [from] "+r"(from), [count] "+r"(count)
               : [scale] "t"(scale), [offset] "t"(offset)
               : RL_EIGHT, "cc", "memory");
  for (size_t i = 0; i < rest; ++i) to[i] = from[i] * scale + offset;
}

// On bit patterns as integers: negative values are 0x80000000 to 0xff800000, NaN above. A saturating addition
// is negative for exactly these.
void rectify_span(float* to, const float* from, size_t count) {
  constexpr int32_t kShift = 0x7fffff;
  size_t rest = count % 4;
  size_t fours = count - rest;
#define RL_RECTIFY(number) "qadd %[sum], " number ", %[shift]\n bic " number ", " number ", %[sum], asr #31\n"
  int32_t sum;
  asm volatile(
      "subs %[count], %[count], #4\n"
      "blt 2f\n"
      "1:\n"
      "ldmia %[from]!, {r3, r4, r5, r8}\n"  //
      RL_RECTIFY("r3") RL_RECTIFY("r4") RL_RECTIFY("r5") RL_RECTIFY("r8")
      "stmia %[to]!, {r3, r4, r5, r8}\n"
      "subs %[count], %[count], #4\n"
      "bge 1b\n"
      "2:\n"
      : [to] "+r"(to), [from] "+r"(from), [count] "+r"(fours), [sum] "=&r"(sum)
      : [shift] "r"(kShift)
      : "r3", "r4", "r5", "r8", "cc", "memory");
  for (size_t i = 0; i < rest; ++i) to[i] = from[i] < 0 ? 0 : from[i];
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#endif
