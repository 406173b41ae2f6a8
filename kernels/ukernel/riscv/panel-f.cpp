// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with floats in 32 registers: four rows by six columns in f0 to f23. In assembler, as compilers keep
// some of these sums in memory. 142 instructions for 96 products.
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;
constexpr bool kTakesColumns = false;

#define RL_TEXT(text) #text
#define RL_STRING(text) RL_TEXT(text)
#define RL_COLUMN_OF_1(at, number, a) \
  "flw " number ", " RL_STRING(at) "(%[panel])\nfmadd.s " a ", f24, " number ", " a "\n"
#define RL_COLUMN_OF_4(at, number, a, b, c, d) \
  RL_COLUMN_OF_1(at, number, a)                \
  "fmadd.s " b ", f25, " number ", " b         \
  "\n"                                         \
  "fmadd.s " c ", f26, " number ", " c "\nfmadd.s " d ", f27, " number ", " d "\n"
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
// A row of the tile in memory, to or from six registers.
#define RL_ROW(move, a, b, c, d, e, f)                                                     \
  move " " a ", 0(%[at])\n" move " " b ", 4(%[at])\n" move " " c ", 8(%[at])\n" move " " d \
       ", 12(%[at])\n" move " " e ", 16(%[at])\n" move " " f ", 20(%[at])\n"
#define RL_FLOATS                                                                                       \
  "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", \
      "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23", "f24", "f25", "f26", "f27", "f28", "f29", \
      "f30", "f31"

template <size_t kTileRows>
inline void add_tile(const float* left, ptrdiff_t left_stride, const float* panel, size_t depth, float* out,
                     ptrdiff_t out_stride) {
  const float* unrolled_end = panel + depth / 4 * 4 * kPanelColumns;
  const float* end = panel + depth * kPanelColumns;
  if constexpr (kTileRows == 1) {
    asm volatile(
        RL_ROW("flw", "f0", "f1", "f2", "f3", "f4", "f5")
        "beq %[panel], %[end], 2f\n"
        "1:\n"
        RL_STEP_OF_1(0, 0)
        "addi %[panel], %[panel], 24\n"
        "addi %[first], %[first], 4\n"
        "bne %[panel], %[end], 1b\n"
        "2:\n"
        RL_ROW("fsw", "f0", "f1", "f2", "f3", "f4", "f5")
        : [first] "+r"(left), [panel] "+r"(panel)
        : [at] "r"(out), [end] "r"(end)
        : RL_FLOATS, "memory");
  } else {
    const float* second = left + left_stride;
    const float* third = second + left_stride;
    const float* fourth = third + left_stride;
    const ptrdiff_t stride = out_stride * static_cast<ptrdiff_t>(sizeof(float));
    float* at = out;
    asm volatile(
        RL_ROW("flw", "f0", "f1", "f2", "f3", "f4", "f5")
        "add %[at], %[at], %[stride]\n"
        RL_ROW("flw", "f6", "f7", "f8", "f9", "f10", "f11")
        "add %[at], %[at], %[stride]\n"
        RL_ROW("flw", "f12", "f13", "f14", "f15", "f16", "f17")
        "add %[at], %[at], %[stride]\n"
        RL_ROW("flw", "f18", "f19", "f20", "f21", "f22", "f23")
        "beq %[panel], %[unrolled_end], 2f\n"
        "1:\n"
        RL_STEP_OF_4(0, 0) RL_STEP_OF_4(4, 24) RL_STEP_OF_4(8, 48) RL_STEP_OF_4(12, 72)
        "addi %[panel], %[panel], 96\n"
        "addi %[first], %[first], 16\n"
        "addi %[second], %[second], 16\n"
        "addi %[third], %[third], 16\n"
        "addi %[fourth], %[fourth], 16\n"
        "bne %[panel], %[unrolled_end], 1b\n"
        "2:\n"
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
        RL_ROW("fsw", "f18", "f19", "f20", "f21", "f22", "f23")
        "sub %[at], %[at], %[stride]\n"
        RL_ROW("fsw", "f12", "f13", "f14", "f15", "f16", "f17")
        "sub %[at], %[at], %[stride]\n"
        RL_ROW("fsw", "f6", "f7", "f8", "f9", "f10", "f11")
        "sub %[at], %[at], %[stride]\n"
        RL_ROW("fsw", "f0", "f1", "f2", "f3", "f4", "f5")
        : [first] "+r"(left), [second] "+r"(second), [third] "+r"(third), [fourth] "+r"(fourth),
          [panel] "+r"(panel), [at] "+r"(at)
        : [stride] "r"(stride), [unrolled_end] "r"(unrolled_end), [end] "r"(end)
        : RL_FLOATS, "memory");
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"
#include "kernels/ukernel/generic/panel_copies.inl"
#include "kernels/ukernel/generic/panel_rows.inl"
