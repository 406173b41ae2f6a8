// SPDX-License-Identifier: BSD-3-Clause
// block_gemm on Cortex-M55. A gather loads the words of one feature, 64 bytes apart, so that VMLADAV sums 16
// byte products: one gather and 2 instructions unpack 32 elements of 4 bits, and each part of a row, q = 256
// * high + low, takes 2 sums. Elements of 8 bits are made signed, which subtracts their zero.
//
// A block of a quantized row holds 32 high bytes (not if the form is narrow), then as many low bytes, in the
// order in which gathers load weights. Helium flushes subnormals to zero: products of scales below 2^-126 are
// 0.
#include <arm_mve.h>

#include "kernels/ukernel/generic/block_small.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPartBytes = kMostBlock;
constexpr size_t kGathered = 4;  // words in a gather

RL_INLINE size_t row_block_bytes(const BlockForm& form) {
  return form.is_narrow ? kPartBytes : 2 * kPartBytes;
}

// Elements past the block are 0.
void store_block(const BlockForm& form, const int32_t* q, char* to) {
  auto* at = reinterpret_cast<int8_t*>(to);
  for (size_t i = 0; i < row_block_bytes(form); i += 16) vstrbq_s8(at + i, vdupq_n_s8(0));
  for (size_t k = 0; k < form.block_depth(); k += 4) {
    int8_t* const four = at + (form.is_byte ? k : k % 8 / 4 * 16 + k / 8 * 4);
    const int32x4_t numbers = vldrwq_s32(q + k);
    vstrbq_s32(four, form.is_narrow ? numbers : vrshrq_n_s32(numbers, 8));
    if (!form.is_narrow) vstrbq_s32(four + kPartBytes, numbers);
  }
}

RL_INLINE int32_t first_sum(const BlockForm& form, const BlockHeader& head) {
  if (form.is_byte) return form.has_minimum ? head.correction : 0;
  return form.has_minimum ? 0 : -head.correction;
}

// An intrinsic, since GCC 12 converts __builtin_convertvector lane by lane.
RL_INLINE F32 floats_of(I32 sums) { return (F32)vcvtq_f32_s32((int32x4_t)sums); }

// Convert the even or the odd float16 lanes. In q0: binutils 2.40 encodes other registers of these
// instructions wrongly, with doubled numbers.
RL_INLINE float32x4_t even_halves(uint8x16_t halves) {
  register uint8x16_t value asm("q0") = halves;
  asm("vcvtb.f32.f16 q0, q0" : "+w"(value));
  return vreinterpretq_f32_u8(value);
}
RL_INLINE float32x4_t odd_halves(uint8x16_t halves) {
  register uint8x16_t value asm("q0") = halves;
  asm("vcvtt.f32.f16 q0, q0" : "+w"(value));
  return vreinterpretq_f32_u8(value);
}

void load_scales(bool is_single, const uint8_t* from, float* __restrict to) {
  if (is_single) {
    for (size_t j = 0; j < kBlockFeatures; j += 4) {
      vst1q_f32(to + j, vreinterpretq_f32_u8(vldrbq_u8(from + j * sizeof(float))));
    }
    return;
  }
  for (size_t j = 0; j < kBlockFeatures; j += 8) {
    const uint8x16_t halves = vldrbq_u8(from + j * sizeof(uint16_t));
    const float32x4x2_t both = {{even_halves(halves), odd_halves(halves)}};
    vst2q_f32(to + j, both);
  }
}

// Gathers the words of feature kFeature, kSkip bytes past `at`.
template <size_t kFeature, size_t kSkip = 0>
RL_INLINE uint8x16_t gather(uint32x4_t at) {
  return vreinterpretq_u8_u32(
      vldrwq_gather_base_u32(at, static_cast<int>(kSkip + kFeature * sizeof(uint32_t))));
}

// The sum of one feature over a block: `first` and `second` are 16 elements each. High bytes are summed
// separately and count 256 times.
template <bool kIsByte, size_t kParts, size_t kFeature>
RL_INLINE void sum_feature(uint32x4_t at, uint8x16_t mask, const int8x16_t (&row)[kParts][2], int32_t* sums) {
  const uint8x16_t words = gather<kFeature>(at);
  const uint8x16_t other =
      kIsByte ? gather<kFeature, kGathered * kWordBytes>(at) ^ mask : vshrq_n_u8(words, 4);
  const int8x16_t first = vreinterpretq_s8_u8(kIsByte ? words ^ mask : words & mask);
  const int8x16_t second = vreinterpretq_s8_u8(other);
  const int32_t sum = vmladavaq_s8(vmladavq_s8(first, row[kParts - 1][0]), second, row[kParts - 1][1]);
  if constexpr (kParts == 1) {
    sums[kFeature] = sum;
  } else {
    const int32_t high = vmladavaq_s8(vmladavq_s8(first, row[0][0]), second, row[0][1]);
    sums[kFeature] = sum + static_cast<int32_t>(static_cast<uint32_t>(high) << 8);
  }
}

// Copies words that a gather cannot load, since they are unaligned or too few.
[[gnu::noinline]] void sum_copy(SumBlock sum_block, const uint8_t* words, const char* left, size_t steps,
                                int32_t* sums) {
  alignas(uint32_t) uint8_t copy[2 * kGathered * kWordBytes] = {};
  std::memcpy(copy, words, steps * kWordBytes);
  sum_block(copy, left, 0, sums);
}

// `steps` is 0 for aligned whole blocks.
template <bool kIsByte, size_t kParts>
void sum_block(const uint8_t* words, const char* left, size_t steps, int32_t* sums) {
  if (steps != 0 &&
      (steps != (kIsByte ? 8 : 4) || reinterpret_cast<uintptr_t>(words) % sizeof(uint32_t) != 0)) {
    return sum_copy(sum_block<kIsByte, kParts>, words, left, steps, sums);
  }
  int8x16_t row[kParts][2];
  RL_UNROLL
  for (size_t part = 0; part < kParts; ++part) {
    const auto* from = reinterpret_cast<const int8_t*>(left) + part * kPartBytes;
    row[part][0] = vldrbq_s8(from);
    row[part][1] = vldrbq_s8(from + 16);
  }
  const uint8x16_t mask = vdupq_n_u8(kIsByte ? 0x80 : 15);
  const uint32x4_t offsets = vshlq_n_u32(vidupq_n_u32(0, 8), 3);
  static_assert(kWordBytes == 8 << 3);
  uint32x4_t at = vaddq_n_u32(offsets, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(words)));
  // Offsets of gathers are immediate: four features share the addresses.
  for (size_t j = 0; j < kBlockFeatures; j += 4, sums += 4) {
    sum_feature<kIsByte, kParts, 0>(at, mask, row, sums);
    sum_feature<kIsByte, kParts, 1>(at, mask, row, sums);
    sum_feature<kIsByte, kParts, 2>(at, mask, row, sums);
    sum_feature<kIsByte, kParts, 3>(at, mask, row, sums);
    at = vaddq_n_u32(at, 4 * sizeof(uint32_t));
  }
}

SumBlock sum_block_of(const BlockForm& form) {
  if (form.is_byte) return form.is_narrow ? sum_block<true, 1> : sum_block<true, 2>;
  return form.is_narrow ? sum_block<false, 1> : sum_block<false, 2>;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/block_small_rows.inl"
