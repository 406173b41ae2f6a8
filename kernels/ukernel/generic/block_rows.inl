// SPDX-License-Identifier: BSD-3-Clause
// What variants of block_gemm share: quantized rows, and the bounds of their headers.
//
// A row holds a header for each block, then its numbers, as a variant likes them.
#pragma once

#include "kernels/ukernel/block_gemm.h"
#include "kernels/ukernel/generic/half.inl"
#include "kernels/ukernel/generic/rounding.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kMostBlock = 32;  // numbers of a block

struct BlockHeader {
  float scale;
  float sum;           // float(sum of q) * scale
  int32_t correction;  // zero * sum of q
};

constexpr size_t header_bytes(const BlockForm& form) { return whole(form.blocks() * sizeof(BlockHeader)); }

RL_INLINE BlockHeader header(const char* row, size_t block) {
  BlockHeader header;
  std::memcpy(&header, row + block * sizeof(header), sizeof(header));
  return header;
}

// Quantizes the numbers of one block; x has kMostBlock numbers, zeros past the end.
RL_INLINE BlockHeader quantize_block(const BlockForm& form, const float* __restrict x,
                                     int16_t* __restrict q) {
  uint32_t most = 0;  // patterns of magnitudes are ordered as the magnitudes, infinity and NaN above all
  for (size_t k = 0; k < kMostBlock; ++k) {
    const uint32_t magnitude = pattern_of(x[k]) & 0x7fffffffu;
    most = magnitude > most ? magnitude : most;
  }
  if (most >= 0x7f800000u || of_pattern(most) < kBlockLeast) {
    for (size_t k = 0; k < kMostBlock; ++k) q[k] = 0;
    const float scale = most >= 0x7f800000u ? __builtin_nanf("") : 0.0F;
    return {scale, scale, 0};
  }
  const auto limit = static_cast<float>(form.most());
  const float inverse = limit / of_pattern(most);
  int32_t sum = 0;
  for (size_t k = 0; k < kMostBlock; ++k) {
    const int32_t number = nearest(rounded(x[k] * inverse));
    q[k] = static_cast<int16_t>(number);
    sum += number;
  }
  const float scale = of_pattern(most) / limit;
  return {scale, static_cast<float>(sum) * scale, form.zero() * sum};
}

// Quantizes a row; store(block, numbers) puts the block_depth() numbers of a block where they belong.
template <class Store>
RL_INLINE void quantize_blocks(const BlockForm& form, const float* from, void* to, const Store& store) {
  const size_t depth = form.block_depth();
  for (size_t block = 0; block < form.blocks(); ++block) {
    const size_t begin = block * depth;
    const size_t left = form.depth > begin ? form.depth - begin : 0;
    int16_t q[kMostBlock];
    BlockHeader made;
    if (left >= kMostBlock && depth == kMostBlock) {
      made = quantize_block(form, from + begin, q);
    } else {
      float x[kMostBlock] = {};
      for (size_t k = 0; k < depth && k < left; ++k) x[k] = from[begin + k];
      made = quantize_block(form, x, q);
    }
    std::memcpy(static_cast<char*>(to) + block * sizeof(made), &made, sizeof(made));
    store(block, q);
  }
}

// Adds bias and residual to a row's sums and stores them.
RL_INLINE void finish_row(const BlockGemm& p, size_t row, const float* __restrict sums) {
  float* out = p.out + static_cast<ptrdiff_t>(row) * p.out_stride;
  for (size_t j = 0; j < p.features; ++j) {
    float sum = sums[j];
    if (p.bias != nullptr) sum = sum + p.bias[j];
    if (p.residual != nullptr) sum = sum + p.residual[static_cast<ptrdiff_t>(row) * p.residual_stride + j];
    out[j] = sum;
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
