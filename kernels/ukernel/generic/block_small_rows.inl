// SPDX-License-Identifier: BSD-3-Clause
// The functions of block_gemm in terms of the functions that block_small.inl lists.
namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE I32 load_sums(const int32_t* from) {
  if constexpr (kLanes == 1) return splat(*from);  // not by memcpy, see load()
  I32 sums;
  std::memcpy(&sums, from, sizeof(sums));
  return sums;
}

struct GroupScales {
  float scales[2 * kBlockFeatures];  // then minimums
};

// Adds a block to the totals of a row, four vectors of features at a time.
RL_INLINE void add_block(const BlockForm& form, const BlockHeader& head, const int32_t* __restrict sums,
                         const GroupScales& group, float* __restrict totals) {
  constexpr size_t kAtOnce = 4 * kLanes;
  static_assert(kBlockFeatures % kAtOnce == 0);
  const I32 begin = splat(first_sum(form, head));
  const F32 row_scale = splat(head.scale), row_sum = splat(head.sum);
  const float* scales = group.scales;
  for (const int32_t* const end = sums + kBlockFeatures; sums != end;
       sums += kAtOnce, scales += kAtOnce, totals += kAtOnce) {
    RL_UNROLL
    for (size_t j = 0; j < kAtOnce; j += kLanes) {
      const F32 scale = rounded(load(scales + j) * row_scale);
      F32 total = load(totals + j) + rounded(floats_of(load_sums(sums + j) + begin) * scale);
      if (form.has_minimum) total = total + rounded(load(scales + kBlockFeatures + j) * row_sum);
      store(totals + j, total);
    }
  }
}

void multiply_row(const BlockGemm& p, const char* headers, SumBlock sum_block, float* totals) {
  const BlockForm form = p.form;
  const char* left = headers + header_bytes(form);
  const auto* from = static_cast<const uint8_t*>(p.panel);
  const size_t scale_bytes = form.scale_bytes(), row_bytes = row_block_bytes(form);
  const size_t steps = form.block_depth() / form.run(), blocks = form.group / form.block_depth();
  GroupScales group;
  int32_t sums[kBlockFeatures];
  for (size_t g = form.groups(); g > 0; --g) {
    load_scales(form.is_single, from, group.scales);
    from += scale_bytes;
    if (form.has_minimum) {
      load_scales(form.is_single, from, group.scales + kBlockFeatures);
      from += scale_bytes;
    }
    for (size_t i = blocks; i > 0; --i, left += row_bytes, headers += sizeof(BlockHeader)) {
      sum_block(from, left, steps, sums);
      from += steps * kWordBytes;
      add_block(form, header(headers, 0), sums, group, totals);
    }
  }
}

}  // namespace

size_t block_row_bytes(const BlockForm& form) {
  return header_bytes(form) + whole(form.blocks() * row_block_bytes(form));
}

void quantize_block_row(const BlockForm& form, const float* from, void* to) {
  char* at = static_cast<char*>(to) + header_bytes(form);
  quantize_blocks(form, from, to, [&](size_t, const int32_t* q) {
    store_block(form, q, at);
    at += row_block_bytes(form);
  });
}

void multiply_blocks(const BlockGemm& p) {
  const SumBlock sum_block = sum_block_of(p.form);
  for (size_t i = 0; i < p.rows; ++i) {
    float totals[kBlockFeatures] = {};
    multiply_row(p, static_cast<const char*>(p.left) + i * p.left_stride, sum_block, totals);
    finish_row(p, i, totals);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
