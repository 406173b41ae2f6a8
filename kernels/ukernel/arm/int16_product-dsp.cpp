// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4, M7 and M33: two rows by two columns, four elements of the depth at a time. SXTB16 widens bytes 0
// and 2, or 1 and 3, of the weights; PKHBT and PKHTB pair the row's elements in the same order; SMLAD
// multiplies and adds a pair. 24 instructions for 16 products, 8 of them loads.
#include <cstring>

#include <arm_acle.h>

#include "kernels/ukernel/int16_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 2;
// Whole fours: only the last part of a depth has a remainder.
constexpr size_t kPart = kInt16Products / 4 * 4;

template <class T>
inline int32_t load_word(const T* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Elements 0 and 2 of four, or 1 and 3.
inline int32_t even_of(int32_t first, int32_t second) {
  int32_t pair;
  asm("pkhbt %0, %1, %2, lsl #16" : "=r"(pair) : "r"(first), "r"(second));
  return pair;
}
inline int32_t odd_of(int32_t first, int32_t second) {
  int32_t pair;
  asm("pkhtb %0, %2, %1, asr #16" : "=r"(pair) : "r"(first), "r"(second));
  return pair;
}
inline int32_t even_of(int32_t bytes) {
  int32_t pair;
  asm("sxtb16 %0, %1" : "=r"(pair) : "r"(bytes));
  return pair;
}
inline int32_t odd_of(int32_t bytes) {
  int32_t pair;
  asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(bytes));
  return pair;
}

// Four elements of a row as pairs of even and odd elements.
struct Four {
  int32_t even;
  int32_t odd;
  explicit Four(const int16_t* from) {
    const int32_t first = load_word(from), second = load_word(from + 2);
    even = even_of(first, second);
    odd = odd_of(first, second);
  }
};
struct FourWeights {
  int32_t even;
  int32_t odd;
  explicit FourWeights(const int8_t* from) {
    const int32_t bytes = load_word(from);
    even = even_of(bytes);
    odd = odd_of(bytes);
  }
};
inline int32_t add(int32_t sum, const Four& row, const FourWeights& column) {
  return __smlad(row.odd, column.odd, __smlad(row.even, column.even, sum));
}

// Sums are separate variables: compilers that optimize for size keep arrays in memory.
template <size_t kRows, size_t kWidth>
void sum_tile(const int16_t* left, ptrdiff_t left_stride, const int8_t* right, ptrdiff_t right_stride,
              size_t depth, int32_t* sums) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  const int16_t* const last = left + depth;
  for (const int16_t* const end = left + depth / 4 * 4; left != end; left += 4, right += 4) {
    const Four row(left);
    const FourWeights column(right);
    a = add(a, row, column);
    if constexpr (kRows == 2) {
      const Four next_row(left + left_stride);
      c = add(c, next_row, column);
      if constexpr (kWidth == 2) {
        const FourWeights next(right + right_stride);
        b = add(b, row, next);
        d = add(d, next_row, next);
      }
    } else if constexpr (kWidth == 2) {
      b = add(b, row, FourWeights(right + right_stride));
    }
  }
  // The last 0 to 3 elements, one at a time.
  for (; left != last; ++left, ++right) {
    a += *left * *right;
    if constexpr (kWidth == 2) b += *left * right[right_stride];
    if constexpr (kRows == 2) c += left[left_stride] * *right;
    if constexpr (kRows == 2 && kWidth == 2) d += left[left_stride] * right[right_stride];
  }
  sums[0] = a;
  if constexpr (kWidth == 2) sums[1] = b;
  if constexpr (kRows == 2) sums[kWidth] = c;
  if constexpr (kRows == 2 && kWidth == 2) sums[3] = d;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/int16_tiles.inl"
