// SPDX-License-Identifier: BSD-3-Clause
// How many parts the loops of a convolution have, so that threads end at the same time.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rushlight::kernels::host {

// Products worth a thread: about 5 microseconds on a host, a few times of what it costs to join threads.
// Depthwise products wait for memory and shuffles: fewer take as long.
inline constexpr ptrdiff_t kThreadProducts = 1 << 18;
inline constexpr ptrdiff_t kThreadDepthwise = 1 << 16;

// The number of items, of `work` products each, that are worth a thread.
inline size_t items_for_thread(ptrdiff_t work, ptrdiff_t least = kThreadProducts) {
  return static_cast<size_t>(std::max<ptrdiff_t>(least / std::max<ptrdiff_t>(work, 1), 1));
}

// The smallest number of parts, from `least` to `most`, with which each of `threads` threads takes as many of
// `outer` * parts items as any other, or at least kManyItems; `least` if there is none.
inline ptrdiff_t even_parts(ptrdiff_t outer, ptrdiff_t least, ptrdiff_t most, size_t threads) {
  constexpr ptrdiff_t kManyItems = 4;
  const auto lanes = static_cast<ptrdiff_t>(threads);
  for (ptrdiff_t parts = least; parts <= most; ++parts) {
    if (outer * parts % lanes == 0 || outer * parts >= kManyItems * lanes) return parts;
  }
  return least;
}

}  // namespace rushlight::kernels::host
