// SPDX-License-Identifier: BSD-3-Clause
// Scales of block_gemm on cores without vectors: one at a time, normal values first.
#include "kernels/ukernel/generic/block_small.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE F32 floats_of(I32 sum) { return static_cast<float>(sum); }

// Without the product in half_value(), which is a library call on cores without an FPU.
RL_INLINE float scale_value(uint16_t half) {
#if defined(__arm__) && defined(__ARM_FEATURE_FMA)  // VFPv4
  float value = of_pattern(half);
  asm("vcvtb.f32.f16 %0, %0" : "+t"(value));
  return value;
#else
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t magnitude = half & 0x7fffu, exponent = 112u << 23;
  if (magnitude >= 0x7c00u) return of_pattern(sign | 0x7f800000u | magnitude << 13);
  if (magnitude == 0) return of_pattern(sign);
  if (magnitude < 0x400u) {
    for (exponent += 1u << 23; (magnitude & 0x400u) == 0; magnitude <<= 1) exponent -= 1u << 23;
    magnitude &= 0x3ffu;
  }
  return of_pattern(sign | ((magnitude << 13) + exponent));
#endif
}

void load_scales(bool is_single, const uint8_t* from, float* __restrict to) {
  const float* const end = to + kBlockFeatures;
  if (is_single) {
    for (; to != end; from += sizeof(float)) {
      const uint32_t low = from[0] | from[1] << 8;  // by bytes: some cores require aligned words
      *to++ = of_pattern(low | static_cast<uint32_t>(from[2] | from[3] << 8) << 16);
    }
    return;
  }
  for (; to != end; from += sizeof(uint16_t)) {
    *to++ = scale_value(static_cast<uint16_t>(from[0] | from[1] << 8));
  }
}

// Weights are multiplied as stored; the correction subtracts zero * sum of q once.
RL_INLINE int32_t first_sum(const BlockForm& form, const BlockHeader& head) {
  return form.has_minimum ? 0 : -head.correction;
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
