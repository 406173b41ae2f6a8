// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with 32 float registers: four rows by six columns in f0 to f23. In assembler, since compilers keep
// some of these sums in memory. 278 instructions for 192 products.
#include "kernels/ukernel/generic/panel_tile.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = kPanelRows;
constexpr bool kTakesColumns = false;
constexpr size_t kRowsTogether = 8;

// Offsets in the text are sums of constants, which the assembler adds.
#define RL_TEXT(text) #text
#define RL_STRING(text) RL_TEXT(text)
// A column of the panel times an element of one row, or of four. f28 to f31 alternate between columns.
#define RL_COLUMN_OF_1(at, number, a) \
  "flw " number ", " RL_STRING(at) "(%[panel])\nfmadd.s " a ", f24, " number ", " a "\n"
#define RL_COLUMN_OF_4(at, number, a, b, c, d) \
  RL_COLUMN_OF_1(at, number, a)                \
  "fmadd.s " b ", f25, " number ", " b         \
  "\n"                                         \
  "fmadd.s " c ", f26, " number ", " c "\nfmadd.s " d ", f27, " number ", " d "\n"
// A step of the depth at byte offsets `left` of the rows and `panel` of the panel.
#define RL_STEP_OF_1(left, panel)                                                         \
  "flw f24, " RL_STRING(left) "(%[first])\n" RL_COLUMN_OF_1(panel, "f28", "f0")           \
      RL_COLUMN_OF_1(panel + 4, "f29", "f1") RL_COLUMN_OF_1(panel + 8, "f30", "f2")       \
          RL_COLUMN_OF_1(panel + 12, "f31", "f3") RL_COLUMN_OF_1(panel + 16, "f28", "f4") \
              RL_COLUMN_OF_1(panel + 20, "f29", "f5")
#define RL_STEP_OF_4(left, panel) \
  "flw f24, " RL_STRING(left) "(%[first])\nflw f25, " RL_STRING(left) "(%[second])\n"            \
  "flw f26, " RL_STRING(left) "(%[third])\nflw f27, " RL_STRING(left) "(%[fourth])\n"            \
  RL_COLUMN_OF_4(panel, "f28", "f0", "f6", "f12", "f18")                                         \
  RL_COLUMN_OF_4(panel + 4, "f29", "f1", "f7", "f13", "f19")                                     \
  RL_COLUMN_OF_4(panel + 8, "f30", "f2", "f8", "f14", "f20")                                     \
  RL_COLUMN_OF_4(panel + 12, "f31", "f3", "f9", "f15", "f21")                                    \
  RL_COLUMN_OF_4(panel + 16, "f28", "f4", "f10", "f16", "f22")                                   \
  RL_COLUMN_OF_4(panel + 20, "f29", "f5", "f11", "f17", "f23")
// Loads or stores a row of the tile, in six registers.
#define RL_ROW(move, a, b, c, d, e, f, at)                                                             \
  move " " a ", 0(%[" at "])\n" move " " b ", 4(%[" at "])\n" move " " c ", 8(%[" at "])\n" move " " d \
       ", 12(%[" at "])\n" move " " e ", 16(%[" at "])\n" move " " f ", 20(%[" at "])\n"
// Starts a row of the tile from one value.
#define RL_SPREAD(at, a, b, c, d, e, f)                                                            \
  "flw " a ", " RL_STRING(at) "(%[from])\nfmv.s " b ", " a "\nfmv.s " c ", " a "\nfmv.s " d ", " a \
                              "\nfmv.s " e ", " a "\nfmv.s " f ", " a "\n"
#define RL_FLOATS                                                                                       \
  "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", \
      "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23", "f24", "f25", "f26", "f27", "f28", "f29", \
      "f30", "f31"

template <size_t kTileRows>
inline void add_tile(const float* left, ptrdiff_t left_stride, const float* panel, const Tile& tile) {
  const auto size = static_cast<ptrdiff_t>(tile.depth * kPanelColumns);
  // Four rows are unrolled by eight steps. The ends of loops are addresses in the panel, which advances by
  // `size` for each part.
  const ptrdiff_t unrolled = static_cast<ptrdiff_t>(tile.depth / 8 * 8 * kPanelColumns);
  const float* unrolled_end = panel + unrolled;
  const float* end = panel + size;
  const ptrdiff_t size_in_bytes = size * static_cast<ptrdiff_t>(sizeof(float));
  size_t parts = tile.parts;
  const float* from = tile.from;
  const size_t spreads = tile.spreads ? 1 : 0;
  if constexpr (kTileRows == 1) {
    asm volatile(
        "bnez %[spreads], 7f\n"
        RL_ROW("flw", "f0", "f1", "f2", "f3", "f4", "f5", "from")
        "j 5f\n"
        "7:\n"
        RL_SPREAD(0, "f0", "f1", "f2", "f3", "f4", "f5")
        "5:\n"
        "beq %[panel], %[end], 2f\n"
        "1:\n"
        RL_STEP_OF_1(0, 0)
        "addi %[panel], %[panel], 24\n"
        "addi %[first], %[first], 4\n"
        "bne %[panel], %[end], 1b\n"
        "2:\n"
        "addi %[parts], %[parts], -1\n"
        "add %[first], %[first], %[part_step]\n"
        "add %[end], %[end], %[size]\n"
        "bnez %[parts], 5b\n"
        RL_ROW("fsw", "f0", "f1", "f2", "f3", "f4", "f5", "at")
        : [first] "+r"(left), [panel] "+r"(panel), [end] "+r"(end), [parts] "+r"(parts)
        : [from] "r"(from), [spreads] "r"(spreads), [at] "r"(tile.out), [part_step] "r"(tile.part_step), [size] "r"(size_in_bytes)
        : RL_FLOATS, "memory");
  } else {
    const float* second = left + left_stride;
    const float* third = second + left_stride;
    const float* fourth = third + left_stride;
    float* at = tile.out;
    asm volatile(
        // Rows start from six values each, or from one value each.
        "bnez %[spreads], 7f\n"
        RL_ROW("flw", "f0", "f1", "f2", "f3", "f4", "f5", "from")
        "add %[from], %[from], %[from_step]\n"
        RL_ROW("flw", "f6", "f7", "f8", "f9", "f10", "f11", "from")
        "add %[from], %[from], %[from_step]\n"
        RL_ROW("flw", "f12", "f13", "f14", "f15", "f16", "f17", "from")
        "add %[from], %[from], %[from_step]\n"
        RL_ROW("flw", "f18", "f19", "f20", "f21", "f22", "f23", "from")
        "j 5f\n"
        "7:\n"
        RL_SPREAD(0, "f0", "f1", "f2", "f3", "f4", "f5") RL_SPREAD(4, "f6", "f7", "f8", "f9", "f10", "f11")
        RL_SPREAD(8, "f12", "f13", "f14", "f15", "f16", "f17")
        RL_SPREAD(12, "f18", "f19", "f20", "f21", "f22", "f23")
        "5:\n"
        // The next part: eight steps at a time.
        "beq %[panel], %[unrolled_end], 2f\n"
        "1:\n"
        RL_STEP_OF_4(0, 0) RL_STEP_OF_4(4, 24) RL_STEP_OF_4(8, 48) RL_STEP_OF_4(12, 72)
        RL_STEP_OF_4(16, 96) RL_STEP_OF_4(20, 120) RL_STEP_OF_4(24, 144) RL_STEP_OF_4(28, 168)
        "addi %[panel], %[panel], 192\n"
        "addi %[first], %[first], 32\n"
        "addi %[second], %[second], 32\n"
        "addi %[third], %[third], 32\n"
        "addi %[fourth], %[fourth], 32\n"
        "bne %[panel], %[unrolled_end], 1b\n"
        "2:\n"
        // The last 0 to 7 steps.
        "beq %[panel], %[end], 4f\n"
        "3:\n"
        RL_STEP_OF_4(0, 0)
        "addi %[panel], %[panel], 24\n"
        "addi %[first], %[first], 4\n"
        "addi %[second], %[second], 4\n"
        "addi %[third], %[third], 4\n"
        "addi %[fourth], %[fourth], 4\n"
        "bne %[panel], %[end], 3b\n"
        "4:\n"
        "addi %[parts], %[parts], -1\n"
        // Moves the rows and the ends to the next part.
        "beqz %[parts], 6f\n"
        "add %[first], %[first], %[part_step]\n"
        "add %[second], %[second], %[part_step]\n"
        "add %[third], %[third], %[part_step]\n"
        "add %[fourth], %[fourth], %[part_step]\n"
        "add %[unrolled_end], %[unrolled_end], %[size]\n"
        "add %[end], %[end], %[size]\n"
        "j 5b\n"
        "6:\n"
        RL_ROW("fsw", "f0", "f1", "f2", "f3", "f4", "f5", "at")
        "add %[at], %[at], %[out_step]\n"
        RL_ROW("fsw", "f6", "f7", "f8", "f9", "f10", "f11", "at")
        "add %[at], %[at], %[out_step]\n"
        RL_ROW("fsw", "f12", "f13", "f14", "f15", "f16", "f17", "at")
        "add %[at], %[at], %[out_step]\n"
        RL_ROW("fsw", "f18", "f19", "f20", "f21", "f22", "f23", "at")
        : [first] "+r"(left), [second] "+r"(second), [third] "+r"(third), [fourth] "+r"(fourth),
          [panel] "+r"(panel), [from] "+r"(from), [at] "+r"(at), [parts] "+r"(parts),
          [unrolled_end] "+r"(unrolled_end), [end] "+r"(end)
        : [from_step] "r"(tile.from_step), [spreads] "r"(spreads), [out_step] "r"(tile.out_step), [part_step] "r"(tile.part_step),
          [size] "r"(size_in_bytes)
        : RL_FLOATS, "memory");
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"
#include "kernels/ukernel/generic/panel_copies.inl"
#include "kernels/ukernel/generic/panel_rows.inl"
