// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: three rows by two columns, 16 numbers of the depth at a time, in loops that count and mask by
// themselves: 12 instructions for 96 products. Sums are in general registers, of which VMLADAVA takes the
// even ones; so this is assembler. A single row is taken by four columns. Sums of 12 rows by 16 columns are
// kept before they are quantized.
#include "kernels/ukernel/arm/requantize_mve.h"
#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 3;
static_assert(kInt8ProductRows == kRows);
constexpr size_t kColumns = kSumColumns;  // sums of a block: 768 bytes of stack
constexpr size_t kBlockRows = 12;

// Assembler reads it by the offsets of members.
struct Columns {
  const int8_t* rows[kRows];
  const int8_t* right;
  ptrdiff_t right_stride;
  int32_t* sums;            // of the rows of a column, then of the next
  const int32_t* sums_end;  // columns are pairs, or fours of one row
  size_t depth;             // of a part
  size_t parts;
  ptrdiff_t part_stride;
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

// The same of rows in parts. On the stack: bytes that rows and columns have gone too far in a part, parts to
// go, depth and parts, bytes back to the rows' and on to the next columns' first parts, and the end.
[[gnu::naked, gnu::noinline]] void multiply_parts([[maybe_unused]] const Columns& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "ldrd r12, r10, [r0, #28]\n"
      "ldr r3, [r0, #36]\n"
      "add r2, r12, #15\n"
      "bic r2, r2, #15\n"
      "subs r1, r2, r3\n"
      "mul r3, r10, r3\n"
      "subs r2, r2, r12\n"
      "ldrd r7, r4, [r0, #12]\n"
      "add r9, r7, r4\n"
      "mul r8, r10, r12\n"
      "rsb r4, r8, r4, lsl #1\n"
      "ldrd r11, r6, [r0, #20]\n"
      "mov r8, r3\n"
      "push {r4, r6}\n"
      "push {r1, r2, r7, r10, r12}\n"  // r7 is only a place
      "push {r8}\n"
      "ldrd r1, r3, [r0]\n"
      "ldr r5, [r0, #8]\n"
      "1:\n"
      "clrm {r0, r2, r4, r6, r8, r10}\n"
      "ldr r12, [sp, #16]\n"
      "str r12, [sp, #12]\n"
      "2:\n"
      "ldr r12, [sp, #20]\n"
      "wlstp.8 lr, r12, 4f\n"
      "3:\n"
      "vldrb.u8 q0, [r1], #16\n"
      "vldrb.u8 q3, [r7], #16\n" RL_ADD("r0", "q0", "q3")
      "vldrb.u8 q1, [r3], #16\n" RL_ADD("r2", "q1", "q3")
      "vldrb.u8 q2, [r5], #16\n" RL_ADD("r4", "q2", "q3")
      "vldrb.u8 q3, [r9], #16\n" RL_ADD("r6", "q0", "q3") RL_ADD("r8", "q1", "q3") RL_ADD("r10", "q2", "q3")
      "letp lr, 3b\n"
      "4:\n"
      "ldr r12, [sp, #4]\n"
      "sub r1, r1, r12\n"
      "sub r3, r3, r12\n"
      "sub r5, r5, r12\n"
      "ldr r12, [sp, #8]\n"
      "sub r7, r7, r12\n"
      "sub r9, r9, r12\n"
      "ldr r12, [sp, #12]\n"
      "subs r12, r12, #1\n"
      "str r12, [sp, #12]\n"
      "bne 2b\n"
      "stmia r11!, {r0, r2, r4, r6, r8, r10}\n"
      "ldr r0, [sp]\n"
      "ldrd r2, r4, [sp, #24]\n"
      "sub r1, r1, r0\n"
      "sub r3, r3, r0\n"
      "sub r5, r5, r0\n"
      "add r7, r7, r2\n"
      "add r9, r9, r2\n"
      "cmp r11, r4\n"
      "bne 1b\n"
      "add sp, sp, #32\n"
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

// Parts of less depth are put together: a row of them is multiplied in fewer steps.
constexpr size_t kLeastPart = 64;
constexpr size_t kJoined = 144;  // bytes of a row, of which so many are put together: 864 bytes of stack
constexpr size_t kJoinedRows = 6;

// Three rows' sums of 16 columns, then the next ones'.
constexpr size_t kRowsSums = kRows * kColumns;
constexpr uint32_t kRowsAt[kBlockRows] = {0,   4,   8,   192, 196, 200,  //
                                          384, 388, 392, 576, 580, 584};
static_assert(kRowsAt[3] == kRowsSums * sizeof(int32_t));

// The parts of a row, side by side.
inline void join_parts(const Int8Product& p, const int8_t* from, int8_t* to) {
  for (size_t part = p.parts; part > 0; --part, from += p.part_stride, to += p.depth) {
    const int8_t* in = from;
    int8_t* out = to;
    asm volatile(
        "wlstp.8 lr, %[count], 2f\n"
        "1:\n"
        "vldrb.u8 q0, [%[in]], #16\n"
        "vstrb.u8 q0, [%[out]], #16\n"
        "letp lr, 1b\n"
        "2:\n"
        : [in] "+r"(in), [out] "+r"(out)
        : [count] "r"(p.depth)
        : "q0", "lr", "cc", "memory");
  }
}

// How rows are multiplied by columns: `step` sums from column to column, which are taken in groups.
struct Tile {
  void (*multiply)(const Columns&);
  size_t step;
  size_t group;
};
constexpr Tile kThree = {multiply_three, kRows, 2};
constexpr Tile kInParts = {multiply_parts, kRows, 2};
constexpr Tile kOne = {multiply_one, 1, 4};

// Columns that no group has: a group of the same column for each, from `work.right` on. `work` is not
// changed.
[[gnu::noinline]] void multiply_rest(const Tile& tile, const Columns& whole, size_t columns) {
  int32_t group_sums[4 * kRows];
  Columns work = whole;
  work.right_stride = 0;
  work.sums_end = group_sums + tile.group * tile.step;
  for (int32_t* sums = whole.sums; columns > 0; --columns, sums += tile.step) {
    work.sums = group_sums;
    tile.multiply(work);
    for (size_t i = 0; i < tile.step; ++i) sums[i] = group_sums[i];
    work.right += whole.right_stride;
  }
}

// Sums of the rows of a block by the columns of a block.
void multiply_block(const Tile& tile, Columns& work, const int8_t* const* rows, size_t count,
                    const int8_t* right, size_t columns, int32_t* sums) {
  const size_t whole = columns - columns % tile.group;
  for (size_t i = 0; i < count; i += kRows, sums += kRowsSums) {
    for (size_t k = 0; k < kRows; ++k) work.rows[k] = rows[i + k];
    work.right = right;
    work.sums = sums;
    work.sums_end = sums + whole * tile.step;
    if (whole > 0) tile.multiply(work);
    if (whole == columns) continue;
    work.right = right + static_cast<ptrdiff_t>(whole) * work.right_stride;
    work.sums = sums + whole * tile.step;
    multiply_rest(tile, work, columns - whole);
  }
}

// The rows of a block that begin at `left`, those that a tile lacks repeating the last one.
void find_rows(const int8_t* left, ptrdiff_t stride, size_t count, const int8_t** rows) {
  for (size_t k = 0; k < count; ++k, left += stride) rows[k] = left;
  for (size_t k = count; k % kRows != 0; ++k) rows[k] = rows[k - 1];
}

// One alone is cheaper than two more with it.
size_t rows_of_block(size_t rest) {
  if (rest > kBlockRows) return kBlockRows;
  return rest > 1 && rest % kRows == 1 ? rest - 1 : rest;
}

// Rows in one part, or in parts that are not put together.
[[gnu::noinline]] void multiply(const Int8Product& p, Columns& work) {
  int32_t sums[kRowsSums * kBlockRows / kRows];
  work.right_stride = p.right_stride;
  for (size_t j = 0; j < p.columns; j += kColumns) {
    const size_t columns = p.columns - j < kColumns ? p.columns - j : kColumns;
    const Quantizer quantizer(p.to, p.bias, j, columns);
    const int8_t* right = p.right + static_cast<ptrdiff_t>(j) * p.right_stride;
    const int8_t* left = p.left;
    int8_t* out = p.out + j;
    for (size_t rest = p.rows; rest > 0;) {
      const size_t count = rows_of_block(rest);
      const Tile& tile = work.parts > 1 ? kInParts : count == 1 ? kOne : kThree;
      const int8_t* rows[kBlockRows];
      find_rows(left, p.left_stride, count, rows);
      multiply_block(tile, work, rows, count, right, columns, sums);
      quantizer.quantize({sums, tile.step, kRowsAt, count, out, p.out_stride});
      left += static_cast<ptrdiff_t>(count) * p.left_stride;
      out += static_cast<ptrdiff_t>(count) * p.out_stride;
      rest -= count;
    }
  }
}

// Rows in parts that are put together, some at a time.
[[gnu::noinline]] void multiply_joined(const Int8Product& p, Columns& work) {
  int8_t joined[kJoinedRows][kJoined];
  Int8Product some = p;
  some.left = joined[0];
  some.left_stride = kJoined;
  const int8_t* left = p.left;
  for (size_t rest = p.rows; rest > 0; rest -= some.rows) {
    some.rows = rest < kJoinedRows ? rest : kJoinedRows;
    for (size_t k = 0; k < some.rows; ++k, left += p.left_stride) join_parts(p, left, joined[k]);
    multiply(some, work);
    some.out += static_cast<ptrdiff_t>(some.rows) * p.out_stride;
  }
}

}  // namespace

void multiply_int8(const Int8Product& p) {
  const size_t depth = p.parts * p.depth;
  const bool joins = p.parts > 1 && p.depth < kLeastPart && depth <= kJoined;
  Columns work;
  work.depth = joins ? depth : p.depth;
  work.parts = joins ? 1 : p.parts;
  work.part_stride = p.part_stride;
  if (joins) return multiply_joined(p, work);
  multiply(p, work);
}

void multiply_int8_row(const Int8Row& p) {
  Columns work;
  work.depth = p.depth;
  work.parts = 1;
  work.part_stride = 0;
  work.right_stride = p.right_stride;
  const int8_t* rows[kRows] = {p.left, p.left, p.left};
  multiply_block(kOne, work, rows, 1, p.right, p.columns, p.sums);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
