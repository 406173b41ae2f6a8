// SPDX-License-Identifier: BSD-3-Clause
// Shared by the variants of block_gemm for boards: little code, one row and one block at a time. Before it
// includes this, a variant defines
//
//   size_t row_block_bytes(form)              bytes of a block of a quantized row
//   void store_block(form, q, to)             stores block_depth() elements in the variant's order
//   int32_t first_sum(form, head)             the start of the sums of a block
//   F32 floats_of(sums)                       converts a vector of sums
//   void load_scales(is_single, from, to)     scales or minimums, at any alignment
//   SumBlock sum_block_of(form)               the inner loop
//
// which these functions use:
#include "kernels/ukernel/generic/block_rows.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// sums[j] = sum over `steps` words of feature j of their elements times the elements of a row.
using SumBlock = void (*)(const uint8_t* words, const char* left, size_t steps, int32_t* sums);

constexpr size_t kWordBytes = kBlockFeatures * sizeof(uint32_t);

// Loads a word at any alignment.
RL_INLINE uint32_t load_word(const void* from) {
  uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
