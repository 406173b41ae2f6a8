// SPDX-License-Identifier: BSD-3-Clause
// int8_depthwise_groups.h for cores with only 32-bit products: a word for each weight, so that a load of
// several registers fetches the weights of a group and no instruction widens them in the loop.
//
// The source defines kGroup, Taps and add_taps() before it includes this. 512 bytes of stack hold 32 taps of
// four channels, or 64 taps of two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kTapBytes = kGroup * sizeof(int32_t);

// The sums are set by the caller, for a block of pixels at a time.
inline Taps taps_of(const int8_t* weights, size_t taps, const int32_t* bias, const int8_t* const* in,
                    size_t channel) {
  return {in, reinterpret_cast<const int32_t*>(weights), channel, taps, bias, nullptr, nullptr};
}

// to = int32 [taps][kGroup]. Weights of a tap are contiguous, taps are `stride` elements apart.
inline void widen(const int8_t* weights, ptrdiff_t stride, size_t taps, int8_t* to) {
  auto* words = reinterpret_cast<int32_t*>(to);
  for (; taps > 0; --taps, weights += stride) {
    for (size_t i = 0; i < kGroup; ++i) *words++ = weights[i];
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/arm/int8_depthwise_groups.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {
// add_taps() stores the sums of a group's channels at constant offsets of 64 bytes.
static_assert(kPixels * sizeof(int32_t) == 64);
}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
