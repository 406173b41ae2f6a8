// SPDX-License-Identifier: BSD-3-Clause
// How many parts the loops of kernels have, so that each is worth a thread and threads end at the same time.
#pragma once

#include <cstddef>

namespace rushlight::kernels::host {

// Products worth a thread: about 5 microseconds on a host, a few times of what it costs to join threads.
// Depthwise products wait for memory and shuffles: fewer take as long.
inline constexpr ptrdiff_t kThreadProducts = 1 << 18;
inline constexpr ptrdiff_t kThreadDepthwise = 1 << 16;

// The number of items, of `work` products each, that are worth a thread: at least 1.
[[nodiscard]] size_t items_for_thread(ptrdiff_t work, ptrdiff_t least = kThreadProducts);

// The smallest number of parts, from `least` to `most`, with which each of `threads` threads takes as many of
// `outer` * parts items as any other, or at least 4. If there is none, the larger one of both limits.
[[nodiscard]] ptrdiff_t even_parts(ptrdiff_t outer, ptrdiff_t least, ptrdiff_t most, size_t threads);

}  // namespace rushlight::kernels::host
