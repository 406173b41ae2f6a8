// SPDX-License-Identifier: BSD-3-Clause
// Shared by the variants of block_gemm: quantizes rows and reads their headers.
//
// A quantized row holds one header for each block, then its elements in the order that the variant reads.
#pragma once

#include "kernels/ukernel/block_gemm.h"
#include "kernels/ukernel/generic/half.inl"
#include "kernels/ukernel/generic/rounding.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kMostBlock = 32;  // elements of a block

struct BlockHeader {
  float scale;
  float sum;           // float(sum of q) * scale
  int32_t correction;  // zero * sum of q
};

constexpr size_t header_bytes(const BlockForm& form) { return whole(form.blocks() * sizeof(BlockHeader)); }

RL_INLINE const BlockHeader& header(const char* row, size_t block) {
  return reinterpret_cast<const BlockHeader*>(row)[block];
}

// The largest magnitude of a block, as a bit pattern: patterns of magnitudes are ordered as integers, with
// infinity and NaN largest.
RL_INLINE uint32_t largest_pattern(const float* __restrict x) {
  I32 most = splat(int32_t{0});
  for (size_t k = 0; k < kMostBlock; k += kLanes) {
    const I32 magnitude = bits(load(x + k)) & splat(int32_t{0x7fffffff});
    most = select(magnitude > most, magnitude, most);
  }
  const auto larger = [](F32 a, F32 b) { return from_bits(select(bits(a) > bits(b), bits(a), bits(b))); };
  return pattern_of(reduce(from_bits(most), larger));
}

// Quantizes one block; x has kMostBlock elements, padded with zeros.
RL_INLINE BlockHeader quantize_block(const BlockForm& form, const float* __restrict x,
                                     int32_t* __restrict q) {
  const uint32_t most = largest_pattern(x);
  if (most >= 0x7f800000u || of_pattern(most) < kBlockLeast) {
    for (size_t k = 0; k < kMostBlock; ++k) q[k] = 0;
    const float scale = most >= 0x7f800000u ? __builtin_nanf("") : 0.0F;
    return {scale, scale, 0};
  }
  const auto limit = static_cast<float>(form.most());
  const F32 inverse = splat(limit / of_pattern(most)), magic = splat(0x1.8p23F);  // see nearest()
  I32 sums = splat(int32_t{0});
  for (size_t k = 0; k < kMostBlock; k += kLanes) {
    const I32 numbers = bits(rounded(load(x + k) * inverse) + magic) - splat(int32_t{0x4b400000});
    std::memcpy(q + k, &numbers, sizeof(numbers));
    sums = sums + numbers;
  }
  int32_t lanes[kLanes], sum = 0;
  std::memcpy(lanes, &sums, sizeof(lanes));
  for (const int32_t each : lanes) sum += each;
  const float scale = of_pattern(most) / limit;
  return {scale, static_cast<float>(sum) * scale, form.zero() * sum};
}

// Quantizes a row. store(block, q) writes the block_depth() elements of a block.
template <class Store>
RL_INLINE void quantize_blocks(const BlockForm& form, const float* from, void* to, const Store& store) {
  const size_t depth = form.block_depth();
  for (size_t block = 0; block < form.blocks(); ++block) {
    const size_t begin = block * depth;
    const size_t left = form.depth > begin ? form.depth - begin : 0;
    int32_t q[kMostBlock];
    BlockHeader made;
    if (left >= kMostBlock && depth == kMostBlock) {
      made = quantize_block(form, from + begin, q);
    } else {
      float x[kMostBlock] = {};
      for (size_t k = 0; k < depth && k < left; ++k) x[k] = from[begin + k];
      made = quantize_block(form, x, q);
    }
    static_cast<BlockHeader*>(to)[block] = made;
    store(block, q);
  }
}

// Stores a block as the pairs that masks extract from the halves of words: of each 8 elements of 4 bits, 0
// and 2, 4 and 6, 1 and 3, 5 and 7; of each 4 elements of 8 bits, 0 and 2, 1 and 3.
RL_INLINE void store_pairs(const BlockForm& form, const int32_t* q, int16_t* to) {
  const size_t run = form.run();
  for (const int32_t* const end = q + form.block_depth(); q != end; q += run) {
    for (size_t odd = 0; odd < 2; ++odd) {
      for (size_t k = odd; k < run; k += 4) {
        *to++ = static_cast<int16_t>(q[k]);
        *to++ = static_cast<int16_t>(q[k + 2]);
      }
    }
  }
}

// Adds bias and residual to the sums of a row and stores them.
RL_INLINE void finish_row(const BlockGemm& p, size_t row, float* __restrict sums) {
  const size_t count = p.features;
  float* out = p.out + static_cast<ptrdiff_t>(row) * p.out_stride;
  if (p.bias != nullptr) {
    for (size_t j = 0; j < count; ++j) sums[j] = sums[j] + p.bias[j];
  }
  if (p.residual != nullptr) {
    const float* residual = p.residual + static_cast<ptrdiff_t>(row) * p.residual_stride;
    for (size_t j = 0; j < count; ++j) sums[j] = sums[j] + residual[j];
  }
  for (size_t j = 0; j < count; ++j) out[j] = sums[j];
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
