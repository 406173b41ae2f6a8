// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: three rows by two columns, 16 elements of the depth at a time, in tail-predicated low-overhead
// loops: 12 instructions for 96 products, and 8 for each six sums. In assembler, since the sums are in
// general registers and VMLADAVA takes only even ones. A single row is multiplied by four columns. Sums of 12
// rows by 16 columns are stored before they are quantized.
#include "kernels/ukernel/arm/requantize_mve.h"
#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 3;
static_assert(kInt8ProductRows == kRows);
constexpr size_t kColumns = kSumColumns;  // columns of a block, whose sums take 768 bytes of stack
constexpr size_t kBlockRows = 12;

// Assembler reads the members by their offsets.
struct Columns {
  const int8_t* rows[kRows];
  const int8_t* right;
  ptrdiff_t right_stride;
  int32_t* sums;            // rows of a column, then of the next column
  const int32_t* sums_end;  // columns are pairs, or fours of one row
  size_t depth;             // elements of a part
  size_t parts;
  ptrdiff_t part_stride;
  size_t triples;  // triples of rows, whose sums are 192 bytes apart
  ptrdiff_t triple_stride;
};

#define RL_ADD(sum, row, column) "vmladava.s8 " sum ", " row ", " column "\n"

// Rows in r1, r3, r5, columns in r7, r9, sums are stored at r11. Stack: bytes from the end of a loop to the
// next columns, first row, end of the sums, other rows; then triples left, bytes to the rows of the next
// triple, columns and their stride, bytes of a triple's sums.
[[gnu::naked, gnu::noinline]] void multiply_three([[maybe_unused]] const Columns& work) {
  asm volatile(
      "push {r4-r11, lr}\n"
      // Reads the arguments and keeps on the stack what the loops need again.
      "ldr r12, [r0, #28]\n"
      "ldrd r7, r8, [r0, #12]\n"
      "ldrd r11, r2, [r0, #20]\n"
      "ldrd r4, r6, [r0, #40]\n"
      "sub r10, r2, r11\n"
      "push {r4, r6, r7, r8, r10}\n"
      "ldrd r1, r3, [r0]\n"
      "ldr r5, [r0, #8]\n"
      "add r0, r12, #15\n"
      "bic r0, r0, #15\n"
      "rsb r0, r0, r8, lsl #1\n"
      "push {r0, r1, r2, r3, r5}\n"
      "add r9, r7, r8\n"
      "1:\n"
      // The next two columns.
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
      // Stores the six sums and goes back to the start of the rows.
      "stmia r11!, {r0, r2, r4, r6, r8, r10}\n"
      "ldmia sp, {r0, r1, r2, r3, r5}\n"
      "add r7, r7, r0\n"
      "add r9, r9, r0\n"
      "cmp r11, r2\n"
      "bne 1b\n"
      // The next triple of rows, from the first column on.
      "ldrd r4, r6, [sp, #20]\n"
      "subs r4, r4, #1\n"
      "beq 4f\n"
      "str r4, [sp, #20]\n"
      "add r1, r1, r6\n"
      "add r3, r3, r6\n"
      "add r5, r5, r6\n"
      "ldrd r7, r8, [sp, #28]\n"
      "add r9, r7, r8\n"
      "ldr r10, [sp, #36]\n"
      "add r2, r2, #192\n"
      "sub r11, r2, r10\n"
      "strd r1, r2, [sp, #4]\n"
      "strd r3, r5, [sp, #12]\n"
      "b 1b\n"
      "4:\n"
      "add sp, sp, #40\n"
      "pop {r4-r11, pc}\n");
}

// The same for one triple of rows in parts. Stack: bytes by which row and column pointers overshoot a part,
// parts left, depth and parts, bytes back to the rows' first parts and on to the next columns, end
// of the sums.
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
      "push {r1, r2, r7, r10, r12}\n"  // r7 only fills a slot
      "push {r8}\n"
      "ldrd r1, r3, [r0]\n"
      "ldr r5, [r0, #8]\n"
      "1:\n"
      // The next two columns; all parts are left.
      "clrm {r0, r2, r4, r6, r8, r10}\n"
      "ldr r12, [sp, #16]\n"
      "str r12, [sp, #12]\n"
      "2:\n"
      // The next part.
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
      // Loads advance by whole vectors: steps back by the bytes past the end of the part, and on to the next
      // part.
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
      // Stores the six sums, and goes back to the first parts of the rows.
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

// Row in r1, columns in r3, r5, r7, r9, sums are stored at r11.
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
      // The next four columns.
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

constexpr size_t kJoined = 864;  // bytes for rows whose parts are joined, at least three rows

// The sums of three rows and 16 columns are followed by the sums of the next three rows.
constexpr size_t kRowsSums = kRows * kColumns;
constexpr uint32_t kRowsAt[kBlockRows] = {0,   4,   8,   192, 196, 200,  //
                                          384, 388, 392, 576, 580, 584};
static_assert(kRowsAt[3] == kRowsSums * sizeof(int32_t));

// Copies the parts of a row to one contiguous row: 4 instructions a part, and 3 for each 16 bytes.
inline void join_parts(const Int8Product& p, const int8_t* from, int8_t* to) {
  const auto ahead = static_cast<ptrdiff_t>((p.depth + 15) / 16 * 16);
  const auto past = ahead - static_cast<ptrdiff_t>(p.depth);
  size_t parts = p.parts;
  asm volatile(
      "1:\n"
      "wlstp.8 lr, %[depth], 3f\n"
      "2:\n"
      "vldrb.u8 q0, [%[from]], #16\n"
      "vstrb.u8 q0, [%[to]], #16\n"
      "letp lr, 2b\n"
      "3:\n"
      "add %[from], %[from], %[step]\n"
      "sub %[to], %[to], %[past]\n"
      "subs %[parts], %[parts], #1\n"
      "bne 1b\n"
      : [from] "+r"(from), [to] "+r"(to), [parts] "+r"(parts)
      : [depth] "r"(p.depth), [step] "r"(p.part_stride - ahead), [past] "r"(past)
      : "q0", "lr", "cc", "memory");
}

// A multiplication of up to `most` rows by groups of columns; sums of adjacent columns are `step` apart.
struct Tile {
  void (*multiply)(const Columns&);
  size_t most;
  size_t step;
  size_t group;  // a power of two
};
constexpr Tile kOneRow = {multiply_one, 1, 1, 4};
constexpr Tile kTiles[] = {
    {multiply_three, kBlockRows, kRows, 2}, kOneRow, {multiply_parts, kRows, kRows, 2}};

// Multiplies columns that do not fill a group, from `work.right` on: each is a group with stride 0. Does not
// change `work`.
[[gnu::noinline]] void multiply_rest(const Tile& tile, const Columns& whole, size_t columns) {
  int32_t group_sums[4 * kRows];
  Columns work = whole;
  work.triples = 1;
  work.right_stride = 0;
  work.sums_end = group_sums + tile.group * tile.step;
  for (int32_t* sums = whole.sums; columns > 0; --columns, sums += tile.step) {
    work.sums = group_sums;
    tile.multiply(work);
    for (size_t i = 0; i < tile.step; ++i) sums[i] = group_sums[i];
    work.right += whole.right_stride;
  }
}

// Computes the sums of `count` rows from `left` on by `columns` columns. `count` is below three or a multiple
// of three.
void multiply_rows(const Tile& tile, Columns& work, const int8_t* left, ptrdiff_t stride, size_t count,
                   const int8_t* right, size_t columns, int32_t* sums) {
  // Missing rows of a triple repeat the last row.
  work.rows[0] = left;
  for (size_t k = 1; k < kRows; ++k) work.rows[k] = work.rows[k - 1] + (k < count ? stride : 0);
  const size_t whole = columns & ~(tile.group - 1);
  work.right = right;
  work.sums = sums;
  work.sums_end = sums + whole * tile.step;
  work.triples = count < kRows ? 1 : count / kRows;
  // Whole groups of columns in one call, then the columns that are left.
  if (whole > 0) tile.multiply(work);
  if (whole == columns) return;
  work.right = right + static_cast<ptrdiff_t>(whole) * work.right_stride;
  work.sums = sums + whole * tile.step;
  for (size_t i = work.triples; i > 0; --i, work.sums += kRowsSums) {
    multiply_rest(tile, work, columns - whole);
    for (const int8_t*& row : work.rows) row += work.triple_stride;
  }
}

// Computes the sums of the rows and columns of a block.
void multiply_block(const Tile& tile, Columns& work, const int8_t* left, ptrdiff_t stride, size_t count,
                    const int8_t* right, size_t columns, int32_t* sums) {
  const size_t most = tile.most;
  for (size_t rest = count; rest > 0;) {
    const size_t some = rest < kRows ? rest : rest < most ? rest - rest % kRows : most;
    multiply_rows(tile, work, left, stride, some, right, columns, sums);
    left += static_cast<ptrdiff_t>(some) * stride;
    sums += some / kRows * kRowsSums;
    rest -= some;
  }
}

// A single row is cheaper alone than as a third of a triple.
size_t rows_of_block(size_t rest) {
  if (rest > kBlockRows) return kBlockRows;
  return rest > 1 && rest % kRows == 1 ? rest - 1 : rest;
}

// Multiplies rows of one part, or of parts that are not joined.
[[gnu::noinline]] void multiply(const Int8Product& p, Columns& work, Quantizer& quantizer) {
  int32_t sums[kRowsSums * kBlockRows / kRows];
  work.right_stride = p.right_stride;
  work.triple_stride = static_cast<ptrdiff_t>(kRows) * p.left_stride;
  for (size_t j = 0; j < p.columns; j += kColumns) {
    const size_t columns = p.columns - j < kColumns ? p.columns - j : kColumns;
    quantizer.set_columns(j, columns);
    const int8_t* right = p.right + static_cast<ptrdiff_t>(j) * p.right_stride;
    const int8_t* left = p.left;
    int8_t* out = p.out + j;
    for (size_t rest = p.rows; rest > 0;) {
      const size_t count = rows_of_block(rest);
      const Tile& tile = kTiles[work.parts > 1 ? 2 : count == 1 ? 1 : 0];
      multiply_block(tile, work, left, p.left_stride, count, right, columns, sums);
      quantizer.quantize({sums, tile.step, kRowsAt, count, out, p.out_stride});
      left += static_cast<ptrdiff_t>(count) * p.left_stride;
      out += static_cast<ptrdiff_t>(count) * p.out_stride;
      rest -= count;
    }
  }
}

// Joins the parts of some rows at a time, also rows of several lines, and multiplies them.
[[gnu::noinline]] void multiply_joined(const Int8Product& p, Columns& work, Quantizer& quantizer) {
  int8_t joined[kJoined];
  const size_t depth = p.parts * p.depth;
  const size_t fitting = kJoined / (depth == 0 ? 1 : depth);
  // As many rows as fit in the buffer, a multiple of three.
  const size_t most = fitting < kBlockRows ? fitting - fitting % kRows : kBlockRows;
  Int8Product some = p;
  some.left = joined;
  some.left_stride = static_cast<ptrdiff_t>(depth);
  const int8_t* line = p.left;
  const int8_t* left = line;
  size_t of_line = p.line_rows;
  for (size_t rest = p.rows; rest > 0; rest -= some.rows) {
    some.rows = rest < most ? rest : most;
    int8_t* to = joined;
    for (size_t k = some.rows; k > 0; --k, to += depth) {
      join_parts(p, left, to);
      left += p.left_stride;
      if (--of_line > 0) continue;
      of_line = p.line_rows;
      line += p.line_stride;
      left = line;
    }
    multiply(some, work, quantizer);
    some.out += static_cast<ptrdiff_t>(some.rows) * p.out_stride;
  }
}

}  // namespace

void multiply_int8(const Int8Product& p) {
  const size_t depth = p.parts * p.depth;
  // Joined rows take one loop for all parts; rows too long for the buffer are multiplied part by part.
  const bool joins = (p.parts > 1 || p.line_rows < p.rows) && depth <= kJoined / kRows;
  Quantizer quantizer(p.to, p.bias);
  Columns work;
  work.depth = joins ? depth : p.depth;
  work.parts = joins ? 1 : p.parts;
  work.part_stride = p.part_stride;
  if (joins) return multiply_joined(p, work, quantizer);
  for_each_line(p, [&](const Int8Product& line) { multiply(line, work, quantizer); });
}

void multiply_int8_row(const Int8Row& p) {
  Columns work;
  work.depth = p.depth;
  work.parts = 1;
  work.part_stride = 0;
  work.right_stride = p.right_stride;
  work.triple_stride = 0;
  multiply_rows(kOneRow, work, p.left, 0, 1, p.right, p.columns, p.sums);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
