// SPDX-License-Identifier: BSD-3-Clause
// Quantized rows are int16. Each word of weights is unpacked once for all rows of a tile; the compiler
// vectorizes the loops over the 16 features of a panel as int32.
#include "kernels/ukernel/generic/block_rows.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;

// Loads the scales or minimums of a group's features.
RL_INLINE void load_scales(const BlockForm& form, const char* from, float* __restrict to) {
  if (form.is_single) {
    std::memcpy(to, from, kBlockFeatures * sizeof(float));
    return;
  }
  uint16_t halves[kBlockFeatures];
  std::memcpy(halves, from, sizeof(halves));
  for (size_t j = 0; j < kBlockFeatures; ++j) to[j] = half_value(halves[j]);
}

// Adds the products of 16 words with 4 or 8 elements of each row.
template <bool kIsByte, size_t kCount>
RL_INLINE void add_word(int32_t (&sums)[kCount][kBlockFeatures], const int16_t* const* left, size_t k,
                        const char* from) {
  uint32_t words[kBlockFeatures];
  std::memcpy(words, from, sizeof(words));
  RL_UNROLL
  for (uint32_t i = 0; i < 4; ++i) {
    RL_UNROLL
    for (uint32_t half = 0; half < (kIsByte ? 1 : 2); ++half) {
      int32_t numbers[kBlockFeatures];
      for (size_t j = 0; j < kBlockFeatures; ++j) {
        numbers[j] = static_cast<int32_t>(words[j] >> (8 * i + 4 * half) & (kIsByte ? 255u : 15u));
      }
      RL_UNROLL
      for (size_t r = 0; r < kCount; ++r) {
        const int32_t factor = left[r][k + i + 4 * half];
        for (size_t j = 0; j < kBlockFeatures; ++j) sums[r][j] += numbers[j] * factor;
      }
    }
  }
}

// Adds a block to the totals, in the order of block_gemm.h; rounded() prevents fused multiply-adds. The zero
// point is corrected by the row's sum instead of being subtracted from each weight.
template <size_t kCount>
RL_INLINE void finish_block(const BlockForm& form, const int32_t (&sums)[kCount][kBlockFeatures],
                            const char* const* rows, size_t block, const float* __restrict scales,
                            const float* __restrict minimums, float (&totals)[kCount][kBlockFeatures]) {
  for (size_t r = 0; r < kCount; ++r) {
    const BlockHeader head = header(rows[r], block);
    const int32_t correction = form.has_minimum ? 0 : head.correction;
    for (size_t j = 0; j < kBlockFeatures; ++j) {
      const float scale = rounded(scales[j] * head.scale);
      totals[r][j] += rounded(static_cast<float>(sums[r][j] - correction) * scale);
    }
    if (!form.has_minimum) continue;
    for (size_t j = 0; j < kBlockFeatures; ++j) totals[r][j] += rounded(head.sum * minimums[j]);
  }
}

// Multiplies kCount rows from `first` on with the panel, group by group and block by block. A group of 16 is
// one block; others have blocks of 32, which share scales and minimums.
template <bool kIsByte, size_t kCount>
void multiply_rows(const BlockGemm& p, size_t first) {
  const BlockForm& form = p.form;
  const char* rows[kCount];
  const int16_t* left[kCount];
  for (size_t r = 0; r < kCount; ++r) {
    rows[r] = static_cast<const char*>(p.left) + (first + r) * p.left_stride;
    left[r] = reinterpret_cast<const int16_t*>(rows[r] + header_bytes(form));
  }
  const auto* from = static_cast<const char*>(p.panel);
  const size_t depth = form.block_depth(), run = kIsByte ? 4 : 8;
  float totals[kCount][kBlockFeatures] = {};
  float scales[kBlockFeatures], minimums[kBlockFeatures] = {};
  for (size_t g = 0, block = 0; g < form.groups(); ++g) {
    load_scales(form, from, scales);
    if (form.has_minimum) load_scales(form, from + form.scale_bytes(), minimums);
    from += form.header_bytes();
    for (const size_t end = block + form.group / depth; block < end; ++block) {
      int32_t sums[kCount][kBlockFeatures] = {};
      for (size_t k = 0; k < depth; k += run, from += kBlockFeatures * sizeof(uint32_t)) {
        add_word<kIsByte, kCount>(sums, left, block * depth + k, from);
      }
      finish_block<kCount>(form, sums, rows, block, scales, minimums, totals);
    }
  }
  for (size_t r = 0; r < kCount; ++r) finish_row(p, first + r, totals[r]);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/block_wide_rows.inl"
