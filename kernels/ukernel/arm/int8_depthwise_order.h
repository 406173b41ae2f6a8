// SPDX-License-Identifier: BSD-3-Clause
// The order of depthwise convolutions of int8 on Cortex-M: all pixels of some channels before other channels,
// whose weights are then prepared once; pixel by pixel where results lie among the inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Whether a result may lie where an input is; strides are not negative.
inline bool may_overlap(const Int8Depthwise& strip) {
  const auto begin = reinterpret_cast<uintptr_t>(strip.out);
  const uintptr_t bytes = (strip.pixels - 1) * static_cast<uintptr_t>(strip.out_stride) + strip.channels;
  const uintptr_t first = begin - strip.channels + 1;
  const uintptr_t reach = bytes + strip.channels - 1;
  const int8_t* const* end = strip.in + strip.pixels * strip.taps;
  for (const int8_t* const* each = strip.in; each != end; ++each) {
    if (reinterpret_cast<uintptr_t>(*each) - first < reach) return true;
  }
  return false;
}

template <class Filter>
inline void filter_in_order(const Int8Depthwise& strip, Filter filter) {
  if (strip.pixels <= 1 || !may_overlap(strip)) return filter(strip);
  Int8Depthwise one = strip;
  one.pixels = 1;
  for (size_t rest = strip.pixels; rest > 0; --rest) {
    filter(one);
    one.in += one.taps;
    one.out += one.out_stride;
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
