// SPDX-License-Identifier: BSD-3-Clause
// The order of depthwise convolutions of int8 on Cortex-M: all pixels of some channels before other channels,
// whose weights are then prepared once; pixel by pixel where results lie among the inputs.
#pragma once

#include <cstddef>

#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

template <class Filter>
inline void filter_in_order(const Int8Depthwise& strip, Filter filter) {
  if (strip.pixels <= 1 || !strip.in_place) return filter(strip);
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
