// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M3: four channels at a time: one load for the inputs, one for the weights, which are widened to 32
// bits. In assembler, so that everything stays in registers: 13 instructions for four products.
#include <cstdint>

#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kGroup = 4;

// Assembler reads the members by their offsets.
struct Taps {
  const int8_t* const* in;
  const int32_t* weights;
  size_t channel;
  size_t taps;
  const int32_t* bias;
  int32_t* sums;  // a pixel in each of four rows that are 64 bytes apart
  const int32_t* sums_end;
};

// Uses all registers but sp: pointers to taps, weights, channel, count, four sums, four weights, four bytes
// and one of them. `work` is on the stack.
[[gnu::naked, gnu::noinline]] void add_taps([[maybe_unused]] Taps& work) {
  asm volatile(
      "push {r0, r4-r11, lr}\n"
      "mov lr, r0\n"
      "ldr r0, [lr]\n"
      "1:\n"
      // The next pixel: sums start from the biases.
      "ldr r3, [lr, #16]\n"
      "ldmia r3, {r4-r7}\n"
      "ldrd r1, r2, [lr, #4]\n"
      "ldr r3, [lr, #12]\n"
      "2:\n"
      // The next tap: a word of inputs, a word for each weight.
      "ldr r12, [r0], #4\n"
      "ldmia r1!, {r8-r11}\n"
      "ldr r12, [r12, r2]\n"
      "sxtb lr, r12\n"
      "mla r4, lr, r8, r4\n"
      "sxtb lr, r12, ror #8\n"
      "mla r5, lr, r9, r5\n"
      "sxtb lr, r12, ror #16\n"
      "mla r6, lr, r10, r6\n"
      "asr lr, r12, #24\n"
      "mla r7, lr, r11, r7\n"
      "subs r3, r3, #1\n"
      "bne 2b\n"
      // lr has been a byte. Stores the sums of four channels, 64 bytes apart.
      "ldr lr, [sp]\n"
      "ldrd r8, r9, [lr, #20]\n"
      "str r5, [r8, #64]\n"
      "str r6, [r8, #128]\n"
      "str r7, [r8, #192]\n"
      "str r4, [r8], #4\n"
      "str r8, [lr, #20]\n"
      "cmp r8, r9\n"
      "bne 1b\n"
      "str r0, [lr]\n"
      "pop {r0, r4-r11, pc}\n");
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_depthwise_words.h"
