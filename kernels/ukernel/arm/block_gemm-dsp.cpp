// SPDX-License-Identifier: BSD-3-Clause
// block_gemm on Cortex-M4, M7 and M33. A mask extracts two elements of a word to its halves; SMLAD multiplies
// them with a pair of a row and adds both products. 8 products cost 9 instructions with 4 bits, 4 products
// cost 5 with 8 bits. A quantized row holds the pairs in the order of their use; four features share it.
#include "kernels/ukernel/generic/block_small_scalar.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kFeatures = 4;

RL_INLINE size_t row_block_bytes(const BlockForm& form) { return form.block_depth() * sizeof(int16_t); }

void store_block(const BlockForm& form, const int32_t* q, char* to) {
  store_pairs(form, q, reinterpret_cast<int16_t*>(to));
}

// Adds the products of pair kPair of a word. One asm statement for both instructions: compilers would
// separate the instructions of four features and run out of registers.
template <bool kIsByte, size_t kPair>
RL_INLINE int32_t add_two(int32_t sum, uint32_t word, [[maybe_unused]] uint32_t mask, int32_t pair) {
  uint32_t two;
  if constexpr (!kIsByte && kPair == 0) {
    asm("and %1, %3, %2\n smlad %0, %1, %4, %0" : "+r"(sum), "=&r"(two) : "r"(word), "r"(mask), "r"(pair));
  } else if constexpr (!kIsByte) {
    asm("and %1, %3, %2, lsr %4\n smlad %0, %1, %5, %0"
        : "+r"(sum), "=&r"(two)
        : "r"(word), "r"(mask), "n"(4 * kPair), "r"(pair));
  } else if constexpr (kPair == 0) {
    asm("uxtb16 %1, %2\n smlad %0, %1, %3, %0" : "+r"(sum), "=&r"(two) : "r"(word), "r"(pair));
  } else {
    asm("uxtb16 %1, %2, ror #8\n smlad %0, %1, %3, %0" : "+r"(sum), "=&r"(two) : "r"(word), "r"(pair));
  }
  return sum;
}

// Sums and words of four features are separate variables: compilers that optimize for size keep arrays in
// memory.
struct Sums {
  int32_t a = 0, b = 0, c = 0, d = 0;
};
struct Words {
  uint32_t a, b, c, d;
};

// A pair of the row times pair kPair of the words of four features.
template <bool kIsByte, size_t kPair>
RL_INLINE void add_pair(Sums& sums, const Words& words, uint32_t mask, int32_t pair) {
  sums.a = add_two<kIsByte, kPair>(sums.a, words.a, mask, pair);
  sums.b = add_two<kIsByte, kPair>(sums.b, words.b, mask, pair);
  sums.c = add_two<kIsByte, kPair>(sums.c, words.c, mask, pair);
  sums.d = add_two<kIsByte, kPair>(sums.d, words.d, mask, pair);
}

// Four features at a time: each pair of the row is loaded once for them. runs > 0.
template <bool kIsByte>
void sum_block(const uint8_t* words, const char* left, size_t steps, int32_t* sums) {
  constexpr size_t kPairs = kIsByte ? 2 : 4;
  uint32_t mask = 0x000f000f;  // in a register, so that AND can shift its other operand
  if constexpr (!kIsByte) asm("" : "+r"(mask));
  for (const int32_t* const end = sums + kBlockFeatures; sums != end; sums += kFeatures) {
    const auto* row = reinterpret_cast<const int32_t*>(left);
    const int32_t* const row_end = row + steps * kPairs;
    const uint8_t* at = words;
    Sums of;
    do {
      const Words four = {load_word(at), load_word(at + 4), load_word(at + 8), load_word(at + 12)};
      at += kWordBytes;
      add_pair<kIsByte, 0>(of, four, mask, *row++);
      add_pair<kIsByte, 1>(of, four, mask, *row++);
      if constexpr (!kIsByte) {
        add_pair<kIsByte, 2>(of, four, mask, *row++);
        add_pair<kIsByte, 3>(of, four, mask, *row++);
      }
    } while (row != row_end);
    sums[0] = of.a;
    sums[1] = of.b;
    sums[2] = of.c;
    sums[3] = of.d;
    words += kFeatures * sizeof(uint32_t);
  }
}

SumBlock sum_block_of(const BlockForm& form) { return form.is_byte ? sum_block<true> : sum_block<false>; }

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/block_small_rows.inl"
