// SPDX-License-Identifier: BSD-3-Clause
// Blocked summation for the long sums of a tile, because rounding errors grow with the number of products
// that are added in sequence. Each block starts from 0, and its sums are added to the partial results in the
// tile's output: through the tile's residual, so the microkernel needs no other mode.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

inline constexpr ptrdiff_t kSumBlock = 512;  // approximate products in a block

// The parts of equal depth into which a long sum is divided.
inline ptrdiff_t parts_of_sum(ptrdiff_t depth) {
  return std::max<ptrdiff_t>((depth + kSumBlock / 2) / kSumBlock, 1);
}

// From the second block on, the results of the blocks before are the residual.
template <class Of>
void go_on(Of& tile) {
  tile.initial_from = ukernel::GemmInitial::kZero;
  tile.residual = tile.c;
  tile.residual_stride = tile.c_stride;
}

// Computes `tile` over `taps` taps in blocks of about kSumBlock products. The caller leaves tile.taps and
// tile.a unset, and must not reuse `tile`. point(first, count) returns the pointers for taps [first, first +
// count), where count is at most `most_taps`. Bounds apply to the last block only; bias and residual of the
// caller to the first.
template <class Point>
void sum_in_blocks(ukernel::GemmTile& tile, ptrdiff_t taps, ptrdiff_t most_taps, Point&& point) {
  const auto depth = static_cast<ptrdiff_t>(tile.depth);
  if (taps * depth <= kSumBlock && taps <= most_taps) {  // fast path for the common case
    tile.taps = static_cast<size_t>(taps);
    tile.a = point(0, taps);
    return gemm_tile(tile);
  }
  // A tap with many channels is divided into parts; taps with few channels share a block.
  const ptrdiff_t parts = parts_of_sum(depth);
  const ptrdiff_t part = (depth + parts - 1) / parts;
  const ptrdiff_t step =
      parts > 1 ? 1 : std::clamp<ptrdiff_t>(kSumBlock / std::max<ptrdiff_t>(depth, 1), 1, most_taps);
  const float* b = tile.b;
  // The bounds are the activation: they are kept back until the last block.
  const float low = tile.low;
  const float high = tile.high;
  tile.low = -__builtin_inff();
  tile.high = __builtin_inff();
  ptrdiff_t first = 0;
  do {
    const ptrdiff_t count = std::min(step, taps - first);
    tile.taps = static_cast<size_t>(count);
    tile.a = point(first, count);
    for (ptrdiff_t p = 0; p < depth || p == 0; p += part) {
      tile.depth = static_cast<size_t>(std::min(part, depth - p));
      // Part p of the depth of these taps, in A and in B.
      tile.a_offset = p * tile.a_step;
      tile.b = b + first * tile.b_tap_stride + p * tile.b_stride;
      if (first + count >= taps && p + part >= depth) {
        tile.low = low;
        tile.high = high;
      }
      gemm_tile(tile);
      go_on(tile);
      if (part == 0) break;
    }
    first += step;
  } while (first < taps);
}

// The same for a strip of one tap.
inline void sum_in_blocks(ukernel::GemmStrip& strip) {
  const auto depth = static_cast<ptrdiff_t>(strip.depth);
  const ptrdiff_t parts = parts_of_sum(depth);
  if (parts == 1) return gemm_strip(strip);
  const ptrdiff_t part = (depth + parts - 1) / parts;
  const float* const b = *strip.b;
  const float low = strip.low;
  const float high = strip.high;
  strip.low = -__builtin_inff();
  strip.high = __builtin_inff();
  for (ptrdiff_t p = 0; p < depth; p += part) {
    const float* const rows = b + p * strip.b_stride;
    strip.depth = static_cast<size_t>(std::min(part, depth - p));
    strip.a_offset = p * strip.a_step;
    strip.b = &rows;
    if (p + part >= depth) {
      strip.low = low;
      strip.high = high;
    }
    gemm_strip(strip);
    go_on(strip);
  }
}

}  // namespace rushlight::kernels::host
