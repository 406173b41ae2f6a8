// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M0, M0+ and M23: four rows of a panel of int32 by one column, with an index that counts up to its
// end. In assembler, which keeps sums in the upper registers: 12 instructions for four products, eight of
// which multiply and add.
#include <cstdint>

#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPanelBytes = 16;
constexpr size_t kPartDepth = 512 / kPanelBytes;
constexpr size_t kLeastDepth = 1;

// Assembler reads the members by their offsets.
struct Columns {
  const int8_t* panel;
  const int8_t* right;
  ptrdiff_t right_stride;
  int32_t* sums;
  const int32_t* sums_end;
  size_t depth;
};

inline Columns columns_of(const int8_t* panel, const int8_t* right, size_t depth) {
  return {panel, right, 0, nullptr, nullptr, depth};
}

// Low registers: panel, column's end, index, the column's element, four rows. Upper registers: four sums,
// `work`.
[[gnu::naked, gnu::noinline]] void add_columns([[maybe_unused]] Columns& work) {
  asm volatile(
      ".syntax unified\n"
      "push {r4-r7, lr}\n"
      "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
      "push {r4-r7}\n"
      "mov r12, r0\n"
      "1:\n"
      // The next column: four sums move to the upper registers.
      "mov r3, r12\n"
      "ldr r0, [r3, #12]\n"
      "ldmia r0!, {r4-r7}\n"
      "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
      "ldr r0, [r3]\n"
      "ldr r1, [r3, #4]\n"
      "ldr r2, [r3, #8]\n"
      "adds r2, r2, r1\n"
      "str r2, [r3, #4]\n"
      "ldr r2, [r3, #20]\n"
      "adds r1, r1, r2\n"
      "rsbs r2, r2, #0\n"
      "2:\n"
      // A step of the depth; r2 counts from -depth to 0 and is the index of the element.
      "ldmia r0!, {r4-r7}\n"
      "ldrsb r3, [r1, r2]\n"
      "muls r4, r3, r4\n"
      "add r8, r8, r4\n"
      "muls r5, r3, r5\n"
      "add r9, r9, r5\n"
      "muls r6, r3, r6\n"
      "add r10, r10, r6\n"
      "muls r7, r3, r7\n"
      "add r11, r11, r7\n"
      "adds r2, r2, #1\n"
      "bne 2b\n"
      // Stores the sums of the column.
      "mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
      "mov r3, r12\n"
      "ldr r0, [r3, #12]\n"
      "stmia r0!, {r4-r7}\n"
      "str r0, [r3, #12]\n"
      "ldr r2, [r3, #16]\n"
      "cmp r0, r2\n"
      "bne 1b\n"
      "pop {r4-r7}\n"
      "mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n"
      "pop {r4-r7, pc}\n");
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_product_words.h"
