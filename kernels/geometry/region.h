// SPDX-License-Identifier: BSD-3-Clause
// Pools of one to three dimensions: every element of the small tensor belongs to a region of the large
// one, which a pool reads and the gradient of a pool writes.
#pragma once

#include <cstdint>

#include "kernels/geometry/pooling.h"
#include "kernels/geometry/spatial.h"

namespace rushlight::kernels {

// Elements that lie evenly apart.
struct Region {
  char* data;  // the first one
  ptrdiff_t count[kVolume];
  ptrdiff_t stride[kVolume];  // in bytes
  ptrdiff_t begin[kVolume];   // positions in the volume: of the first one, and how far they are apart
  ptrdiff_t step[kVolume];
  int64_t padded;  // how many they are with those in the padding, where dilation is 1

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(count[0]) * count[1] * count[2]; }
};

// A region in one dimension.
struct Extent {
  int64_t begin;
  int64_t count;
  int64_t padded;
};

struct Pool;
// Which elements in dimension d belong to the pooled element `at`, [n, c, d, h, w]. A function, since builds
// link only those that their pools have.
using Tiling = Extent (*)(const Pool& pool, size_t d, const ptrdiff_t* at);

Extent window_tiling(const Pool& pool, size_t d, const ptrdiff_t* at);
// Parts of the volume, as even as whole elements allow.
Extent adaptive_tiling(const Pool& pool, size_t d, const ptrdiff_t* at);

// How many windows from that at `x` on cover as many columns as it does, one step apart from each other.
size_t count_alike(const Window& window, ptrdiff_t x, const Extent& first);

struct Pool {
  Tiling tiling;
  size_t spatial;
  Window windows[kVolume];  // of what is not a window, only `in`, `out` and a fractional one's `kernel`
  View volume;              // both [N, C, D, H, W]
  View pooled;
  View indices{};  // as `pooled`; no data where there are none
  View samples{};  // the random numbers of fractional_tiling: [N, C, spatial]
  // Of averages: 0 divides by the number of elements, with or without the padding.
  int64_t divisor = 0;
  bool counts_padding = false;
};

// A pool that sees all of the outer dimensions; `windows` are those of the others.
Pool make_pool(Tiling tiling, size_t spatial, const Window* windows, const Tensor& volume,
               const Tensor& pooled);

// Windows for a pool of another tiling. `output_size` has `spatial` numbers of 0 at least; InvalidArgument
// for others, for another rank and for empty spatial dimensions.
Error plan_adaptive(const Tensor& self, Span<const int64_t> output_size, size_t spatial, Window* windows);

// f for every element of `pooled`; `index` is null where there are none.
using PoolFunction = void (*)(const Pool& pool, const Region& region, char* pooled, char* index);
void for_each_region(const Pool& pool, PoolFunction f);

}  // namespace rushlight::kernels
