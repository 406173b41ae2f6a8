// SPDX-License-Identifier: BSD-3-Clause
// block_gemm with WebAssembly's i32x4.dot_i16x8_s: a mask extracts two elements of a word to its halves,
// which are multiplied with a pair of a row, for four features in a vector. A quantized row holds pairs in
// the order in which masks extract elements: 0 and 2, 4 and 6, 1 and 3, 5 and 7. A tile has four rows by
// eight features, 8 sums.
#include <wasm_simd128.h>

#include "kernels/ukernel/generic/block_rows.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kMostRows = 4;
constexpr size_t kVecs = 2;  // vectors of features in a tile
constexpr size_t kVecFeatures = 4;
constexpr size_t kWordBytes = kBlockFeatures * sizeof(uint32_t);

// Extracts pair kPair of each word.
template <bool kIsByte, uint32_t kPair>
RL_INLINE v128_t pairs_of(v128_t words) {
  const v128_t mask = wasm_i32x4_splat(kIsByte ? 0x00ff00ff : 0x000f000f);
  return wasm_v128_and(wasm_u32x4_shr(words, kPair * (kIsByte ? 8 : 4)), mask);
}

// Two elements of each of kVecs vectors of features with two elements of each row.
template <bool kIsByte, uint32_t kPair, size_t kCount>
RL_INLINE void add_pair(v128_t (&sums)[kCount][kVecs], const int16_t* const* left, const v128_t* words) {
  v128_t numbers[kVecs];
  RL_UNROLL for (size_t v = 0; v < kVecs; ++v) numbers[v] = pairs_of<kIsByte, kPair>(words[v]);
  RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
    const v128_t pair = wasm_v128_load32_splat(left[r] + 2 * kPair);
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) {
      sums[r][v] = wasm_i32x4_add(sums[r][v], wasm_i32x4_dot_i16x8(numbers[v], pair));
    }
  }
}

// Scales and minimums of a group as float32, converted once for all blocks and tiles of the group.
struct GroupScales {
  float scales[kBlockFeatures];
  float minimums[kBlockFeatures];
};

// Scales or minimums as float32, at any alignment.
RL_INLINE void load_scales(const BlockForm& form, const char* from, float* __restrict to) {
  if (form.is_single) {
    std::memcpy(to, from, kBlockFeatures * sizeof(float));
    return;
  }
  uint16_t halves[kBlockFeatures];
  std::memcpy(halves, from, sizeof(halves));
  for (size_t j = 0; j < kBlockFeatures; ++j) to[j] = half_value(halves[j]);
}

RL_INLINE F32 floats_of(v128_t sums) { return (F32)wasm_f32x4_convert_i32x4(sums); }

// Adds the sums of a block, for kVecs vectors of features from `feature` on.
template <bool kIsByte, size_t kCount>
RL_INLINE void add_block(const BlockForm& form, const char* const* rows, const int16_t* const* numbers,
                         size_t block, const char* words, const GroupScales& group, size_t feature,
                         float (*totals)[kBlockFeatures]) {
  constexpr size_t kRun = kIsByte ? 4 : 8;
  const int16_t* left[kCount];
  v128_t sums[kCount][kVecs];
  RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
    left[r] = numbers[r] + block * form.block_depth();
    // Sums start less zero * (sum of q), which corrects for unsigned weights.
    const int32_t begin = form.has_minimum ? 0 : -header(rows[r], block).correction;
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) sums[r][v] = wasm_i32x4_splat(begin);
  }
  const char* from = words + feature * sizeof(uint32_t);
  for (size_t k = 0; k < form.block_depth(); k += kRun, from += kWordBytes) {
    v128_t four[kVecs];
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) four[v] = wasm_v128_load(from + v * sizeof(v128_t));
    add_pair<kIsByte, 0, kCount>(sums, left, four);
    add_pair<kIsByte, 1, kCount>(sums, left, four);
    if constexpr (!kIsByte) {
      add_pair<kIsByte, 2, kCount>(sums, left, four);
      add_pair<kIsByte, 3, kCount>(sums, left, four);
    }
    RL_UNROLL for (size_t r = 0; r < kCount; ++r) left[r] += kRun;
  }
  RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
    const BlockHeader& head = header(rows[r], block);
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) {
      const size_t j = feature + v * kVecFeatures;
      // The product of two scales is rounded before it is multiplied, as in the contract.
      const F32 scale = load(group.scales + j) * splat(head.scale);
      F32 total = load(totals[r] + j) + rounded(floats_of(sums[r][v]) * scale);
      if (form.has_minimum) total = total + rounded(load(group.minimums + j) * splat(head.sum));
      store(totals[r] + j, total);
    }
  }
}

// Totals are in memory, since tiles of features alternate within a block.
template <bool kIsByte, size_t kCount>
void multiply_rows(const BlockGemm& p, size_t first) {
  const BlockForm& form = p.form;
  const char* rows[kCount];
  const int16_t* numbers[kCount];
  for (size_t r = 0; r < kCount; ++r) {
    rows[r] = static_cast<const char*>(p.left) + (first + r) * p.left_stride;
    numbers[r] = reinterpret_cast<const int16_t*>(rows[r] + header_bytes(form));
  }
  const auto* from = static_cast<const char*>(p.panel);
  const size_t block_bytes = form.block_depth() / form.run() * kWordBytes;
  float totals[kCount][kBlockFeatures] = {};
  GroupScales group;
  for (size_t g = form.groups(), block = 0; g > 0; --g) {
    load_scales(form, from, group.scales);
    if (form.has_minimum) load_scales(form, from + form.scale_bytes(), group.minimums);
    from += form.header_bytes();
    for (const size_t end = block + form.group / form.block_depth(); block < end;
         ++block, from += block_bytes) {
      for (size_t feature = 0; feature < kBlockFeatures; feature += kVecs * kVecFeatures) {
        add_block<kIsByte, kCount>(form, rows, numbers, block, from, group, feature, totals);
      }
    }
  }
  for (size_t r = 0; r < kCount; ++r) finish_row(p, first + r, totals[r]);
}

// Tiles of four rows, then single rows.
template <bool kIsByte>
void multiply(const BlockGemm& p) {
  size_t i = 0;
  for (; i + kMostRows <= p.rows; i += kMostRows) multiply_rows<kIsByte, kMostRows>(p, i);
  for (; i < p.rows; ++i) multiply_rows<kIsByte, 1>(p, i);
}

}  // namespace

size_t block_row_bytes(const BlockForm& form) {
  return header_bytes(form) + whole(form.blocks() * form.block_depth() * sizeof(int16_t));
}

void quantize_block_row(const BlockForm& form, const float* from, void* to) {
  auto* const numbers = reinterpret_cast<int16_t*>(static_cast<char*>(to) + header_bytes(form));
  quantize_blocks(form, from, to, [&](size_t block, const int32_t* q) {
    store_pairs(form, q, numbers + block * form.block_depth());
  });
}

void multiply_blocks(const BlockGemm& p) {
  if (p.form.is_byte) {
    multiply<true>(p);
  } else {
    multiply<false>(p);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
