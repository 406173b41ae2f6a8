// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with float registers: ReLU in place reads elements as integers and writes only the changed ones.
#include <cstdint>

#define RL_OWN_RECTIFY
#include "kernels/ukernel/generic/spans.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Bit patterns of negative values are 0x80000000 to 0xff800000, NaN above.
[[gnu::always_inline]] inline void rectify(float* number) {
  int32_t bits;
  asm("lw %0, %1" : "=r"(bits) : "m"(*number));
  if (bits < 0 && static_cast<uint32_t>(bits) <= 0xff800000u) *number = 0;
}

}  // namespace

void rectify_span(float* to, const float* from, size_t count) {
  if (to != from) return map_span(to, from, count, [](float x) RL_INLINE { return x < 0 ? 0 : x; });
  for (; count >= 8; count -= 8, to += 8) {
    rectify(to), rectify(to + 1), rectify(to + 2), rectify(to + 3);
    rectify(to + 4), rectify(to + 5), rectify(to + 6), rectify(to + 7);
  }
  for (; count > 0; --count) rectify(to++);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
