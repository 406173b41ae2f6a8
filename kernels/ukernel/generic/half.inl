// SPDX-License-Identifier: BSD-3-Clause
// Bit patterns of float32, and conversions of float16 to float32 and back without branches, so that loops
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

// Rounds to nearest, halves to even; NaN becomes 0x7e00 with its sign.
RL_INLINE uint16_t half_pattern(float value) {
  const uint32_t wide = pattern_of(value);
  const uint32_t sign = (wide >> 16) & 0x8000u;
  const uint32_t magnitude = wide & 0x7fffffffu;
  // Adding 0.5 rounds to multiples of 2^-24, the last bit of subnormal float16.
  const uint32_t subnormal = pattern_of(of_pattern(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
  const uint32_t infinite = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return static_cast<uint16_t>(sign | (magnitude >= 0x477ff000u ? infinite : finite));
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

// Processors that convert vectors of float16 also have store_halves().
#if defined(__F16C__)
#include "kernels/ukernel/x86/halves.h"
#define RL_STORES_HALVES 1
#elif defined(__aarch64__)
#include "kernels/ukernel/arm64/halves.h"
#define RL_STORES_HALVES 1
#else
#define RL_STORES_HALVES 0
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
