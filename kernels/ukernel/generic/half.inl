// SPDX-License-Identifier: BSD-3-Clause
// Bit patterns of float32, and exact conversion of float16 to float32 without branches, so that loops
// vectorize.
#pragma once

#include <cstring>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE uint32_t pattern_of(float value) {
  uint32_t pattern;
  std::memcpy(&pattern, &value, sizeof(pattern));
  return pattern;
}
RL_INLINE float of_pattern(uint32_t pattern) {
  float value;
  std::memcpy(&value, &pattern, sizeof(value));
  return value;
}

// Computes all cases and selects one, without branches.
RL_INLINE float half_value(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t subnormal = pattern_of(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t infinite = (magnitude << 13) | 0x7f800000u;
  const uint32_t finite = magnitude < 0x400u ? subnormal : normal;
  return of_pattern(sign | (magnitude >= 0x7c00u ? infinite : finite));
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#if defined(__F16C__)
#include "kernels/ukernel/x86/halves.h"
#else
namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Loads kLanes float16 at any alignment.
RL_INLINE F32 load_halves(const void* from) {
  uint16_t halves[kLanes];
  std::memcpy(halves, from, sizeof(halves));
  float values[kLanes];
  for (size_t i = 0; i < kLanes; ++i) values[i] = half_value(halves[i]);
  return load(values);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
#endif
