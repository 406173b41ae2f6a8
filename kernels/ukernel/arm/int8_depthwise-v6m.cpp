// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M0, M0+ and M23: two channels at a time, with weights widened to 32 bits. In assembler, which keeps
// sums in the upper registers: ten instructions for two products.
#include <cstdint>

#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kGroup = 2;

// Assembler reads the members by their offsets.
struct Taps {
  const int8_t* const* in;
  const int32_t* weights;
  size_t channel;
  size_t taps;
  const int32_t* bias;
  int32_t* sums;  // a pixel in each of two rows that are 64 bytes apart
  const int32_t* sums_end;
};

// Low registers: pointers to taps, weights, both channels, elements and weights. Upper registers: two sums,
// the weights' end, `work`.
[[gnu::naked, gnu::noinline]] void add_taps([[maybe_unused]] Taps& work) {
  asm volatile(
      ".syntax unified\n"
      "push {r4-r7, lr}\n"
      "mov r4, r8\n mov r5, r9\n mov r6, r10\n"
      "push {r4-r6}\n"
      "mov r12, r0\n"
      "ldr r1, [r0, #4]\n"
      "ldr r4, [r0, #12]\n"
      "lsls r4, r4, #3\n"
      "adds r4, r4, r1\n"
      "mov r10, r4\n"
      "ldr r2, [r0, #8]\n"
      "adds r3, r2, #1\n"
      "ldr r0, [r0]\n"
      "1:\n"
      // The next pixel: sums start from the biases.
      "mov r5, r12\n"
      "ldr r1, [r5, #4]\n"
      "ldr r4, [r5, #16]\n"
      "ldmia r4!, {r6, r7}\n"
      "mov r8, r6\n mov r9, r7\n"
      "2:\n"
      // The next tap of both channels.
      "ldmia r0!, {r4}\n"
      "ldrsb r5, [r4, r2]\n"
      "ldrsb r4, [r4, r3]\n"
      "ldmia r1!, {r6, r7}\n"
      "muls r5, r6, r5\n"
      "add r8, r8, r5\n"
      "muls r4, r7, r4\n"
      "add r9, r9, r4\n"
      "cmp r1, r10\n"
      "bne 2b\n"
      "mov r5, r12\n"
      // Stores both sums, 64 bytes apart.
      "ldr r4, [r5, #20]\n"
      "mov r7, r9\n"
      "str r7, [r4, #64]\n"
      "mov r6, r8\n"
      "stmia r4!, {r6}\n"
      "str r4, [r5, #20]\n"
      "ldr r6, [r5, #24]\n"
      "cmp r4, r6\n"
      "bne 1b\n"
      "str r0, [r5]\n"
      "pop {r4-r6}\n"
      "mov r8, r4\n mov r9, r5\n mov r10, r6\n"
      "pop {r4-r7, pc}\n");
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_depthwise_words.h"
