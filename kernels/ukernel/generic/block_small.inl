// SPDX-License-Identifier: BSD-3-Clause
// Shared by the variants of block_gemm for boards: little code, which takes one row and one block at a time.
// A variant has, before it includes this,
//
//   size_t row_block_bytes(form)                         of a block of a quantized row
//   void store_block(form, q, to)                        block_depth() numbers of a row as the variant likes
//   them int32_t first_sum(form, head)                        what is to be added to sums of a block F32
//   floats_of(sums)                                  a vector of sums, converted void load_scales(is_single,
//   from, to)                scales or minimums, which may lie anywhere SumBlock sum_block_of(form) its inner
//   loop
//
// and these functions for it:
#include "kernels/ukernel/generic/block_rows.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// sums[j] = sum of numbers of feature j times those of a row, for so many runs.
using SumBlock = void (*)(const uint8_t* words, const char* left, size_t runs, int32_t* sums);

constexpr size_t kWordBytes = kBlockFeatures * sizeof(uint32_t);

// A word that may lie anywhere.
RL_INLINE uint32_t load_word(const void* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
