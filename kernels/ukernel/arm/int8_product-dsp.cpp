// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4, M7 and M33: four rows of a panel of int16 by one column, whose elements are widened in
// registers. In assembler, since compilers emit no loads of several registers: 13 instructions for 16
// products, eight of them SMLAD, and 2 for the loop each 32 products.
#include <cstdint>
#include <cstring>

#include "kernels/ukernel/int8_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPanelBytes = 8;
constexpr size_t kPartDepth = 1024 / kPanelBytes;
constexpr size_t kLeastDepth = 4;

// Assembler reads the members by their offsets.
struct Columns {
  const int8_t* panel;
  const int8_t* right;
  ptrdiff_t right_stride;
  int32_t* sums;
  const int32_t* sums_end;
  ptrdiff_t step;  // from the end of the first four elements of a column to the next
  size_t more;     // steps after the first
};

// Any alignment: these cores load unaligned words.
inline uint32_t load(const int8_t* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
inline int32_t even_bytes(uint32_t word) {
  int32_t pair;
  asm("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
  return pair;
}
inline int32_t odd_bytes(uint32_t word) {
  int32_t pair;
  asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}
// The depth is processed in fours. If it is no multiple of four, the second four begin before the end of the
// first, and the panel has zeros where they overlap: nothing past the depth is read. The last part of a
// longer depth may have fewer than four elements; it then begins in the part before.
inline ptrdiff_t overlap_of(size_t depth) { return -static_cast<ptrdiff_t>(-depth & 3); }

inline Columns columns_of(const int8_t* panel, const int8_t* right, size_t depth) {
  const ptrdiff_t overlap = overlap_of(depth);
  Columns work{};
  work.panel = panel;
  work.right = depth < 4 ? right + overlap : right;
  work.step = overlap;
  work.more = (depth + 3) / 4 - 1;
  return work;
}

// Stores a step of the panel: elements 0 and 2, then 1 and 3, of each row.
inline void put(int32_t* panel, uint32_t word) {
  panel[0] = even_bytes(word);
  panel[4] = odd_bytes(word);
}

[[gnu::noinline]] inline void spread(const int8_t* const* rows, size_t depth, int8_t* panel) {
  const ptrdiff_t overlap = overlap_of(depth);
  const ptrdiff_t begin = depth < 4 ? overlap : 0;
  const size_t more = (depth + 3) / 4 - 1;
  for (size_t i = 0; i < 4; ++i) {
    int32_t* to = reinterpret_cast<int32_t*>(panel) + i;
    const int8_t* from = rows[i] + begin;
    // The step whose elements overlap is written last, with zeros for elements of the first step or of the
    // part before.
    int32_t* overlapping = to + (depth < 4 ? 0 : 8);
    const int8_t* again = from + (depth < 4 ? 0 : 4 + overlap);
    put(to, load(from));
    from += overlap;
    for (size_t rest = more; rest > 0; --rest) put(to += 8, load(from += 4));
    if (overlap != 0) put(overlapping, load(again) & ~uint32_t{0} << (-8 * overlap));
  }
}

// Four elements of the depth: a word of the column, and the even and odd pairs of four rows.
#define RL_STEP             \
  "ldr r3, [r1], #4\n"      \
  "ldmia r0!, {r8-r11}\n"   \
  "sxtb16 r2, r3\n"         \
  "sxtb16 r3, r3, ror #8\n" \
  "smlad r4, r8, r2, r4\n"  \
  "smlad r5, r9, r2, r5\n"  \
  "smlad r6, r10, r2, r6\n" \
  "smlad r7, r11, r2, r7\n" \
  "ldmia r0!, {r8-r11}\n"   \
  "smlad r4, r8, r3, r4\n"  \
  "smlad r5, r9, r3, r5\n"  \
  "smlad r6, r10, r3, r6\n" \
  "smlad r7, r11, r3, r7\n"

// Uses all registers but sp: panel, column, four sums, factors, count, `work`.
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
      "ldr r12, [lr, #20]\n" RL_STEP
      // After the first step the column steps back by the overlap.
      "add r1, r1, r12\n"
      "ldr r12, [lr, #24]\n"
      // Two steps a pass; an odd number enters in the middle.
      "lsrs r12, r12, #1\n"
      "bcs 3f\n"
      "subs r12, r12, #1\n"
      "blt 4f\n"
      "2:\n" RL_STEP "3:\n" RL_STEP
      "subs r12, r12, #1\n"
      "bge 2b\n"
      "4:\n"
      // Stores the sums of the column.
      "ldr r12, [lr, #12]\n"
      "ldr r2, [lr, #16]\n"
      "stmia r12!, {r4-r7}\n"
      "str r12, [lr, #12]\n"
      "cmp r12, r2\n"
      "bne 1b\n"
      "pop {r4-r11, pc}\n");
}

// Four products of a word of a column with the even and odd pairs of the row.
#define RL_TWICE(sum, word)                 \
  "sxtb16 %[t], %[" word                    \
  "]\n"                                     \
  "smlad %[" sum "], %[even], %[t], %[" sum \
  "]\n"                                     \
  "sxtb16 %[t], %[" word                    \
  "], ror #8\n"                             \
  "smlad %[" sum "], %[odd], %[t], %[" sum "]\n"

// One row by pairs of columns.
[[gnu::noinline]] inline const int8_t* add_row(const int8_t* left, const int8_t* right,
                                               ptrdiff_t right_stride, size_t depth, int32_t* sums,
                                               size_t columns) {
  for (size_t j = 0; j < columns; j += 2) {
    const size_t last = columns - j < 2 ? 0 : 1;
    const int8_t* from = left;
    const int8_t* first = right;
    const int8_t* second = last == 0 ? right : right + right_stride;
    right += static_cast<ptrdiff_t>(last + 1) * right_stride;
    int32_t a = sums[j];
    int32_t b = sums[j + last];
    int32_t even, odd, words[3];
    if (depth >= 4) {
      asm volatile(
          "1:\n"
          "ldr %[odd], [%[from]], #4\n"
          "ldr %[x], [%[first]], #4\n"
          "ldr %[y], [%[second]], #4\n"
          "sxtb16 %[even], %[odd]\n"
          "sxtb16 %[odd], %[odd], ror #8\n"  //
          RL_TWICE("a", "x") RL_TWICE("b", "y")
          "cmp %[from], %[end]\n"
          "bne 1b\n"
          : [from] "+r"(from), [first] "+r"(first), [second] "+r"(second), [a] "+r"(a), [b] "+r"(b),
            [even] "=&r"(even), [odd] "=&r"(odd), [x] "=&r"(words[0]), [y] "=&r"(words[1]),
            [t] "=&r"(words[2])
          : [end] "r"(left + (depth & ~size_t{3}))
          : "cc", "memory");
    }
    for (const int8_t* end = left + depth; from != end; ++from, ++first, ++second) {
      a += *from * *first;
      b += *from * *second;
    }
    sums[j + last] = b;
    sums[j] = a;
  }
  return right;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_product_rows.h"
