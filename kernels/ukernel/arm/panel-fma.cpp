// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4F, M7F and M33F: four rows by four columns in s0 to s15. In assembler, since compilers emit no
// loads of several registers, which halve the instructions other than VFMA. 55 instructions for 48 products;
// by the manual's counts 3.6 cycles a product on a Cortex-M4, 3 of them for VFMA.
#include "kernels/ukernel/generic/panel_tile.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = kPanelRows;
constexpr bool kTakesColumns = false;

// An element of the left factor times the columns of one of three steps.
#define RL_FOUR(a, b, c, d, x0, x1, x2, x3, factor)                      \
  "vfma.f32 " a ", " x0 ", " factor "\n vfma.f32 " b ", " x1 ", " factor \
  "\n"                                                                   \
  "vfma.f32 " c ", " x2 ", " factor "\n vfma.f32 " d ", " x3 ", " factor "\n"
#define RL_STEP_1(a, b, c, d, factor) RL_FOUR(a, b, c, d, "s16", "s17", "s18", "s19", factor)
#define RL_STEP_2(a, b, c, d, factor) RL_FOUR(a, b, c, d, "s20", "s21", "s22", "s23", factor)
#define RL_STEP_3(a, b, c, d, factor) RL_FOUR(a, b, c, d, "s24", "s25", "s26", "s27", factor)
// Three steps of the depth for one row: one load of three elements, twelve multiply-adds. A single step loads
// one element.
#define RL_THREE_STEPS(row, a, b, c, d)                                                       \
  "vldmia %[" row "]!, {s28-s30}\n" RL_STEP_1(a, b, c, d, "s28") RL_STEP_2(a, b, c, d, "s29") \
      RL_STEP_3(a, b, c, d, "s30")
#define RL_ONE_STEP(row, a, b, c, d) "vldmia %[" row "]!, {s28}\n" RL_STEP_1(a, b, c, d, "s28")
// `three` for each three steps of the depth, then `one` for each step left over.
#define RL_STEPS(three, one)            \
  "subs %[depth], %[depth], #3\n"       \
  "blt 2f\n"                            \
  "1:\n"                                \
  "vldmia %[panel]!, {s16-s27}\n" three \
  "subs %[depth], %[depth], #3\n"       \
  "bge 1b\n"                            \
  "2:\n"                                \
  "adds %[depth], %[depth], #3\n"       \
  "beq 4f\n"                            \
  "3:\n"                                \
  "vldmia %[panel]!, {s16-s19}\n" one   \
  "subs %[depth], %[depth], #1\n"       \
  "bne 3b\n"                            \
  "4:\n"
// The registers with the sums of each row.
#define RL_ROW_0(steps, row) steps(row, "s0", "s1", "s2", "s3")
#define RL_ROW_1(steps, row) steps(row, "s4", "s5", "s6", "s7")
#define RL_ROW_2(steps, row) steps(row, "s8", "s9", "s10", "s11")
#define RL_ROW_3(steps, row) steps(row, "s12", "s13", "s14", "s15")
#define RL_ROWS(steps) \
  RL_ROW_0(steps, "first") RL_ROW_1(steps, "second") RL_ROW_2(steps, "third") RL_ROW_3(steps, "fourth")
#define RL_SUMS                                                                                         \
  "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", \
      "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", \
      "s30", "s31"

// Members of the tile: from, from_step, out, out_step, depth, parts, part_step.
#define RL_BEGIN "ldrd %[at], %[step], [%[tile]]\n"
// Loops over the parts: the panel goes on, while `advance` moves the rows to their next part. At the end `at`
// and `step` describe the result.
#define RL_PARTS(steps, advance)          \
  "ldr %[parts], [%[tile], #20]\n"        \
  "5:\n"                                  \
  "ldr %[depth], [%[tile], #16]\n" steps  \
  "subs %[parts], %[parts], #1\n"         \
  "beq 6f\n"                              \
  "ldr %[step], [%[tile], #24]\n" advance \
  "b 5b\n"                                \
  "6:\n"                                  \
  "ldrd %[at], %[step], [%[tile], #8]\n"

// Four rows or one, four columns. The registers s16 to s27 hold three steps of the panel, s28 to s30 three
// elements of a row.
template <size_t kTileRows>
inline void add_tile(const float* left, ptrdiff_t left_stride, const float* panel, const Tile& tile) {
  // Assembler has the offsets of the tile's members.
  static_assert(sizeof(void*) == 4);
  float* at;
  ptrdiff_t step;
  size_t depth, parts;
  if constexpr (kTileRows == 1) {
    asm volatile(RL_BEGIN "vldmia %[at], {s0-s3}\n" RL_PARTS(
                     RL_STEPS(RL_ROW_0(RL_THREE_STEPS, "first"), RL_ROW_0(RL_ONE_STEP, "first")),
                     "add %[first], %[step]\n") "vstmia %[at], {s0-s3}\n"
                 : [first] "+r"(left), [panel] "+r"(panel), [depth] "=&r"(depth), [parts] "=&r"(parts),
                   [at] "=&r"(at), [step] "=&r"(step)
                 : [tile] "r"(&tile)
                 : RL_SUMS, "cc", "memory");
  } else {
    const float* second = left + left_stride;
    const float* third = second + left_stride;
    const float* fourth = third + left_stride;
    asm volatile(
        RL_BEGIN
        "vldmia %[at], {s0-s3}\n"
        "add %[at], %[step]\n"
        "vldmia %[at], {s4-s7}\n"
        "add %[at], %[step]\n"
        "vldmia %[at], {s8-s11}\n"
        "add %[at], %[step]\n"
        "vldmia %[at], {s12-s15}\n"
        RL_PARTS(RL_STEPS(RL_ROWS(RL_THREE_STEPS), RL_ROWS(RL_ONE_STEP)),
                 "add %[first], %[step]\n add %[second], %[step]\n"
                 "add %[third], %[step]\n add %[fourth], %[step]\n")
        "vstmia %[at], {s0-s3}\n"
        "add %[at], %[step]\n"
        "vstmia %[at], {s4-s7}\n"
        "add %[at], %[step]\n"
        "vstmia %[at], {s8-s11}\n"
        "add %[at], %[step]\n"
        "vstmia %[at], {s12-s15}\n"
        : [first] "+r"(left), [second] "+r"(second), [third] "+r"(third), [fourth] "+r"(fourth),
          [panel] "+r"(panel), [depth] "=&r"(depth), [parts] "=&r"(parts), [at] "=&r"(at), [step] "=&r"(step)
        : [tile] "r"(&tile)
        : RL_SUMS, "cc", "memory");
  }
}

}  // namespace

// Four rows at a time, four elements of each.
void multiply_rows(const RowProduct& product) {
  const float* left = product.left;
  float* out = product.out;
  size_t rows = product.rows;
  for (; rows >= 4; rows -= 4) {
    const float* first = left;
    const float* second = first + product.left_stride;
    const float* third = second + product.left_stride;
    const float* fourth = third + product.left_stride;
    left = fourth + product.left_stride;
    const float* right = product.right;
    size_t depth = product.depth;
    float sums[4];
    asm volatile(
        "vmov s0, %[zero]\n"
        "vmov.f32 s1, s0\n"
        "vmov.f32 s2, s0\n"
        "vmov.f32 s3, s0\n"
        "subs %[depth], %[depth], #4\n"
        "blt 2f\n"
        "1:\n"
        "vldmia %[right]!, {s12-s15}\n"
        "vldmia %[first]!, {s16-s19}\n"
        "vldmia %[second]!, {s20-s23}\n"
        "vldmia %[third]!, {s24-s27}\n"
        "vldmia %[fourth]!, {s28-s31}\n"
        "vfma.f32 s0, s12, s16\n vfma.f32 s1, s12, s20\n vfma.f32 s2, s12, s24\n vfma.f32 s3, s12, s28\n"
        "vfma.f32 s0, s13, s17\n vfma.f32 s1, s13, s21\n vfma.f32 s2, s13, s25\n vfma.f32 s3, s13, s29\n"
        "vfma.f32 s0, s14, s18\n vfma.f32 s1, s14, s22\n vfma.f32 s2, s14, s26\n vfma.f32 s3, s14, s30\n"
        "vfma.f32 s0, s15, s19\n vfma.f32 s1, s15, s23\n vfma.f32 s2, s15, s27\n vfma.f32 s3, s15, s31\n"
        "subs %[depth], %[depth], #4\n"
        "bge 1b\n"
        "2:\n"
        "adds %[depth], %[depth], #4\n"
        "beq 4f\n"
        "3:\n"
        "vldmia %[right]!, {s12}\n"
        "vldmia %[first]!, {s16}\n"
        "vldmia %[second]!, {s20}\n"
        "vldmia %[third]!, {s24}\n"
        "vldmia %[fourth]!, {s28}\n"
        "vfma.f32 s0, s12, s16\n vfma.f32 s1, s12, s20\n vfma.f32 s2, s12, s24\n vfma.f32 s3, s12, s28\n"
        "subs %[depth], %[depth], #1\n"
        "bne 3b\n"
        "4:\n"
        "vstmia %[sums], {s0-s3}\n"
        : [first] "+r"(first), [second] "+r"(second), [third] "+r"(third), [fourth] "+r"(fourth),
          [right] "+r"(right), [depth] "+r"(depth)
        : [sums] "r"(sums), [zero] "r"(0)
        : RL_SUMS, "cc", "memory");
    for (size_t i = 0; i < 4; ++i, out += product.out_stride) *out += sums[i];
  }
  // One to three rows that are left.
  for (; rows > 0; --rows, left += product.left_stride, out += product.out_stride) {
    float sum = 0;
    for (size_t k = 0; k < product.depth; ++k) sum += left[k] * product.right[k];
    *out += sum;
  }
}

void pack_panel(float* to, const float* from, ptrdiff_t from_stride, ptrdiff_t depth_stride, size_t columns,
                size_t depth) {
  // Partial panels are rare: element by element, with zeros.
  if (columns < kPanelColumns) {
    for (size_t k = 0; k < depth; ++k, from += depth_stride) {
      for (size_t j = 0; j < kPanelColumns; ++j) {
        *to++ = j < columns ? from[static_cast<ptrdiff_t>(j) * from_stride] : 0;
      }
    }
    return;
  }
  const float* second = from + from_stride;
  const float* third = second + from_stride;
  const float* fourth = third + from_stride;
  // Four columns that are contiguous along the depth are transposed four elements at a time, in s0 to s3;
  // others one at a time.
  size_t rest = depth_stride == 1 ? depth % 4 : depth;
  depth -= rest;
#define RL_ACROSS(address)                                                                              \
  "vldr s0, [%[first], " address "]\n vldr s1, [%[second], " address "]\n vldr s2, [%[third], " address \
  "]\n"                                                                                                 \
  "vldr s3, [%[fourth], " address "]\n vstmia %[to]!, {s0-s3}\n"
  asm volatile(
      "subs %[depth], #4\n"
      "blt 2f\n"
      "1:\n" RL_ACROSS("#0") RL_ACROSS("#4") RL_ACROSS("#8") RL_ACROSS("#12")
      "add %[first], #16\n add %[second], #16\n add %[third], #16\n add %[fourth], #16\n"
      "subs %[depth], #4\n"
      "bge 1b\n"
      "2:\n"
      : [to] "+r"(to), [first] "+r"(from), [second] "+r"(second), [third] "+r"(third), [fourth] "+r"(fourth),
        [depth] "+r"(depth)
      :
      : "s0", "s1", "s2", "s3", "cc", "memory");
  for (; rest > 0; --rest) {
    *to++ = *from;
    *to++ = *second;
    *to++ = *third;
    *to++ = *fourth;
    from += depth_stride;
    second += depth_stride;
    third += depth_stride;
    fourth += depth_stride;
  }
}

void copy_panel(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, size_t rows) {
  for (; rows > 0; --rows, to += to_stride, from += from_stride) {
    asm volatile("vldmia %1, {s0-s3}\n vstmia %0, {s0-s3}"
                 :
                 : "r"(to), "r"(from)
                 : "s0", "s1", "s2", "s3", "memory");
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"

#define RL_OWN_COPIES
#include "kernels/ukernel/generic/panel_copies.inl"
