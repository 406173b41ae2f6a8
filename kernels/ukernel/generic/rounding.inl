// SPDX-License-Identifier: BSD-3-Clause
// Shared by families that quantize rows: steps that are rounded separately, and sizes in whole cache lines.
#pragma once

#include <cstring>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// An optimization barrier: the rounded value is not fused with a later sum to a multiply-add. It stays in its
// register where the constraint for it is known.
template <class Value>
RL_INLINE Value rounded(Value value) {
  [[maybe_unused]] constexpr bool kIsSingle = sizeof(value) == sizeof(float);
#if defined(__x86_64__) && defined(__SSE2__)
  __asm__("" : "+v"(value));
#elif defined(__aarch64__)
  __asm__("" : "+w"(value));
#elif defined(__arm__) && defined(__ARM_FP)
  if constexpr (kIsSingle) {
    __asm__("" : "+t"(value));
  } else if constexpr (sizeof(value) == 16) {  // a vector
    __asm__("" : "+w"(value));
  } else {
    __asm__("" : "+m"(value));
  }
#elif defined(__riscv_flen)
  if constexpr (kIsSingle) {
    __asm__("" : "+f"(value));
  } else {
    __asm__("" : "+m"(value));
  }
#elif defined(__arm__) || defined(__riscv)
  // Floats are computed by library calls, which round each result.
#else
  __asm__("" : "+m"(value));
#endif
  return value;
}

// Rounds |value| < 2^22 to nearest, halves to even.
RL_INLINE int32_t nearest(float value) {
  value += 0x1.8p23F;
  int32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits - 0x4b400000;
}
RL_INLINE int32_t nearest(double value) {
  value += 0x1.8p52;
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<int32_t>(bits);
}

constexpr size_t whole(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
