// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: three rows by two columns, 16 numbers of the depth at a time, in loops that count and mask by
// themselves: 12 instructions for 96 products. Sums are in general registers, of which VMLADAVA takes the
// even ones; so this is assembler. A single row is taken by four columns.
#include "kernels/ukernel/arm/requantize_mve.h"
#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 3;
static_assert(kInt8ProductRows == kRows);
constexpr size_t kColumns = 64;  // sums of so many columns are kept: 768 bytes of stack

// Assembler reads it by the offsets of members.
struct Columns {
  const int8_t* rows[kRows];
  const int8_t* right;
  ptrdiff_t right_stride;
  int32_t* sums;            // of the rows of a column, then of the next
  const int32_t* sums_end;  // columns are pairs, or fours of one row
  size_t depth;
};

#define RL_ADD(sum, row, column) "vmladava.s8 " sum ", " row ", " column "\n"

// Rows in r1, r3, r5, columns in r7, r9, sums to be stored at r11. On the stack: bytes that pointers have
// gone ahead, the end, and bytes to the next columns.
[[gnu::naked, gnu::noinline]] void multiply_three([[maybe_unused]] const Columns& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "ldr r12, [r0, #28]\n"
      "add r2, r12, #15\n"
      "bic r2, r2, #15\n"
      "ldrd r7, r4, [r0, #12]\n"
      "add r9, r7, r4\n"
      "rsb r8, r2, r4, lsl #1\n"
      "ldrd r11, r6, [r0, #20]\n"
      "ldrd r1, r3, [r0]\n"
      "ldr r5, [r0, #8]\n"
      "push {r2, r6, r8}\n"
      "1:\n"
      "clrm {r0, r2, r4, r6, r8, r10}\n"
      "wlstp.8 lr, r12, 3f\n"
      "2:\n"
      "vldrb.u8 q0, [r1], #16\n"
      "vldrb.u8 q3, [r7], #16\n" RL_ADD("r0", "q0", "q3")
      "vldrb.u8 q1, [r3], #16\n" RL_ADD("r2", "q1", "q3")
      "vldrb.u8 q2, [r5], #16\n" RL_ADD("r4", "q2", "q3")
      "vldrb.u8 q3, [r9], #16\n" RL_ADD("r6", "q0", "q3") RL_ADD("r8", "q1", "q3") RL_ADD("r10", "q2", "q3")
      "letp lr, 2b\n"
      "3:\n"
      "stmia r11!, {r0, r2, r4, r6, r8, r10}\n"
      "ldmia sp, {r0, r2, r4}\n"
      "sub r1, r1, r0\n"
      "sub r3, r3, r0\n"
      "sub r5, r5, r0\n"
      "add r7, r7, r4\n"
      "add r9, r9, r4\n"
      "cmp r11, r2\n"
      "bne 1b\n"
      "add sp, sp, #12\n"
      "pop {r4-r11, pc}\n");
}

// The row in r1, columns in r3, r5, r7, r9, sums to be stored at r11.
[[gnu::naked, gnu::noinline]] void multiply_one([[maybe_unused]] const Columns& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "ldr r12, [r0, #28]\n"
      "add r2, r12, #15\n"
      "bic r2, r2, #15\n"
      "ldrd r3, r4, [r0, #12]\n"
      "add r5, r3, r4\n"
      "add r7, r5, r4\n"
      "add r9, r7, r4\n"
      "rsb r8, r2, r4, lsl #2\n"
      "ldrd r11, r6, [r0, #20]\n"
      "ldr r1, [r0]\n"
      "push {r2, r6, r8}\n"
      "1:\n"
      "clrm {r0, r2, r4, r6}\n"
      "wlstp.8 lr, r12, 3f\n"
      "2:\n"
      "vldrb.u8 q0, [r1], #16\n"
      "vldrb.u8 q1, [r3], #16\n" RL_ADD("r0", "q0", "q1")
      "vldrb.u8 q2, [r5], #16\n" RL_ADD("r2", "q0", "q2")
      "vldrb.u8 q1, [r7], #16\n" RL_ADD("r4", "q0", "q1")
      "vldrb.u8 q2, [r9], #16\n" RL_ADD("r6", "q0", "q2")
      "letp lr, 2b\n"
      "3:\n"
      "stmia r11!, {r0, r2, r4, r6}\n"
      "ldmia sp, {r0, r2, r4}\n"
      "sub r1, r1, r0\n"
      "add r3, r3, r4\n"
      "add r5, r5, r4\n"
      "add r7, r7, r4\n"
      "add r9, r9, r4\n"
      "cmp r11, r2\n"
      "bne 1b\n"
      "add sp, sp, #12\n"
      "pop {r4-r11, pc}\n");
}

}  // namespace

void multiply_int8(const Int8Product& p) {
  int32_t sums[(kColumns + 1) * kRows];
  Columns work;
  work.rows[0] = p.left;
  work.depth = p.depth;
  int8_t* out = p.out;
  for (size_t i = 0; i < p.rows;) {
    const size_t rows = p.rows - i < kRows ? p.rows - i : kRows;
    work.rows[1] = work.rows[0] + (rows > 1 ? p.left_stride : 0);
    work.rows[2] = work.rows[1] + (rows > 2 ? p.left_stride : 0);
    const auto multiply = rows == 1 ? multiply_one : multiply_three;
    const size_t step = rows == 1 ? 1 : kRows;  // of sums, from column to column
    const size_t group = rows == 1 ? 4 : 2;     // columns
    for (size_t j = 0; j < p.columns; j += kColumns) {
      const size_t columns = p.columns - j < kColumns ? p.columns - j : kColumns;
      work.right = p.right + static_cast<ptrdiff_t>(j) * p.right_stride;
      work.right_stride = p.right_stride;
      work.sums = sums;
      const size_t whole = columns / group * group;
      work.sums_end = sums + whole * step;
      if (whole > 0) multiply(work);
      // A group of the same column for each that is left.
      work.right += static_cast<ptrdiff_t>(whole) * p.right_stride;
      work.right_stride = 0;
      for (size_t c = whole; c < columns; ++c) {
        work.sums = sums + c * step;
        work.sums_end = work.sums + group * step;
        multiply(work);
        work.right += p.right_stride;
      }
      quantize(p.to, {sums, step, 1, columns, rows, j, p.bias, out + j, p.out_stride});
    }
    i += rows;
    work.rows[0] += static_cast<ptrdiff_t>(rows) * p.left_stride;
    out += static_cast<ptrdiff_t>(rows) * p.out_stride;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
