// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4, M7, M33: two rows by two columns, four numbers of the depth at a time. SXTB16 widens weights by
// pairs that are two apart, so that the numbers of rows are put together likewise; SMLAD multiplies and adds a
// pair: 24 instructions for 16 products, 8 of which load.
#include <arm_acle.h>

#include <cstring>

#include "kernels/ukernel/int16_product.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = 2;
constexpr size_t kPart = kInt16Products / 4 * 4;

template <class T>
inline int32_t load_word(const T* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Numbers 0 and 2 of four, or 1 and 3.
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

template <size_t kRows, size_t kWidth>
void sum_tile(const int16_t* left, ptrdiff_t left_stride, const int8_t* right, ptrdiff_t right_stride,
              size_t depth, int32_t* sums) {
  int32_t tile[kRows][kWidth] = {};
  const int16_t* const last = left + depth;
  for (const int16_t* const end = left + depth / 4 * 4; left != end; left += 4, right += 4) {
    int32_t even[kRows], odd[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      const int16_t* from = left + static_cast<ptrdiff_t>(i) * left_stride;
      const int32_t first = load_word(from), second = load_word(from + 2);
      even[i] = even_of(first, second);
      odd[i] = odd_of(first, second);
    }
    for (size_t j = 0; j < kWidth; ++j) {
      const int32_t bytes = load_word(right + static_cast<ptrdiff_t>(j) * right_stride);
      const int32_t even_weights = even_of(bytes), odd_weights = odd_of(bytes);
      for (size_t i = 0; i < kRows; ++i) {
        tile[i][j] = __smlad(even[i], even_weights, tile[i][j]);
        tile[i][j] = __smlad(odd[i], odd_weights, tile[i][j]);
      }
    }
  }
  for (; left != last; ++left, ++right) {
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kWidth; ++j) {
        tile[i][j] += left[static_cast<ptrdiff_t>(i) * left_stride] *
                      right[static_cast<ptrdiff_t>(j) * right_stride];
      }
    }
  }
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kWidth; ++j) sums[i * kWidth + j] = tile[i][j];
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/int16_tiles.inl"
