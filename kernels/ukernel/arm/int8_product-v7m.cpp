// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M3: four rows of a panel of int32 by one column. In assembler, since compilers emit no loads of
// several registers: six instructions for four products, four of them MLA, and 2 for the loop each 16
// products.
#include <cstdint>

#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPanelBytes = 16;
constexpr size_t kPartDepth = 1024 / kPanelBytes;
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

// An element of the column, and of each of four rows.
#define RL_STEP           \
  "ldmia r0!, {r8-r11}\n" \
  "ldrsb r2, [r1], #1\n"  \
  "mla r4, r8, r2, r4\n"  \
  "mla r5, r9, r2, r5\n"  \
  "mla r6, r10, r2, r6\n" \
  "mla r7, r11, r2, r7\n"

// Uses all registers but sp: panel, column, its element, count, four sums, four rows, `work`.
[[gnu::naked, gnu::noinline]] void add_columns([[maybe_unused]] Columns& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "mov lr, r0\n"
      "1:\n"
      // The next column: panel, column, stride and sums; the column after it is stored back.
      "ldmia lr, {r0, r1, r2, r12}\n"
      "add r2, r2, r1\n"
      "str r2, [lr, #4]\n"
      "ldmia r12, {r4-r7}\n"
      "ldr r3, [lr, #20]\n"
      "lsrs r12, r3, #2\n"
      "beq 3f\n"
      "2:\n" RL_STEP RL_STEP RL_STEP RL_STEP
      "subs r12, r12, #1\n"
      "bne 2b\n"
      "3:\n"
      // The last 0 to 3 steps of the depth.
      "ands r3, r3, #3\n"
      "beq 5f\n"
      "4:\n" RL_STEP
      "subs r3, r3, #1\n"
      "bne 4b\n"
      "5:\n"
      // Stores the sums of the column.
      "ldr r12, [lr, #12]\n"
      "ldr r2, [lr, #16]\n"
      "stmia r12!, {r4-r7}\n"
      "str r12, [lr, #12]\n"
      "cmp r12, r2\n"
      "bne 1b\n"
      "pop {r4-r11, pc}\n");
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_product_words.h"
