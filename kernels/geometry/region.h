// SPDX-License-Identifier: BSD-3-Clause
// Pools of one to three dimensions. Each element of the pooled tensor belongs to a region of the larger one,
// the volume; a pool reads the region and the gradient of a pool writes it.
#pragma once

#include <cstdint>

#include "kernels/geometry/pooling.h"
#include "kernels/geometry/spatial.h"

namespace rushlight::kernels {

// A strided block of the volume: the elements of one channel that a pooled element depends on.
struct Region {
  char* data;  // the first element
  ptrdiff_t count[kVolume];
  ptrdiff_t stride[kVolume];  // in bytes
  ptrdiff_t begin[kVolume];   // position of the first element in the volume
  // Positions from one element to the next.
  ptrdiff_t step[kVolume];
  int64_t padded;  // number of elements including padding, if dilation is 1

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(count[0]) * count[1] * count[2]; }
};

// A region in one dimension; `padded` counts positions in the padding, too. A window in the padding alone has
// count 0.
struct Extent {
  int64_t begin;
  int64_t count;
  int64_t padded;
};

struct Pool;
// Computes the region of the pooled element `at` ([n, c, d, h, w]) in dimension d. A function pointer, so
// that builds link only the tilings that their operators use.
using Tiling = Extent (*)(const Pool& pool, size_t d, const ptrdiff_t* at);

// Sliding windows, with dilation. A window that ceil_mode adds counts no positions beyond the padding.
Extent window_tiling(const Pool& pool, size_t d, const ptrdiff_t* at);
// Adaptive pooling: divides the dimension into parts as equal as integers allow, as PyTorch does: part i is
// [floor(i in / out), ceil((i + 1) in / out)), so neighboring parts may overlap by one.
Extent adaptive_tiling(const Pool& pool, size_t d, const ptrdiff_t* at);

// The number of windows from `x` on that are complete like the first one and are therefore one step apart. At
// least 1; `first` is the extent of window `x`. A kernel computes such windows together.
size_t count_alike(const Window& window, ptrdiff_t x, const Extent& first);

// A pool and the tensors of a call, as views of rank 5. Does not own them; valid for one call. All tilings
// and loops are function pointers and views, so one loop serves pools and gradients of every rank.
struct Pool {
  Tiling tiling;
  size_t spatial;
  Window windows[kVolume];  // other tilings use only `in` and `out`, and a fractional one `kernel`
  View volume;              // [N, C, D, H, W], as is `pooled`
  View pooled;
  View indices{};  // shaped like `pooled`; data is null if absent
  View samples{};  // random samples of fractional_tiling: [N, C, spatial]
  // Averages only. Divisor 0: the number of elements, with or without the padding.
  int64_t divisor = 0;
  bool counts_padding = false;
};

// Builds a pool over all outer dimensions; `windows` has `spatial` entries for the last ones. The caller sets
// `indices`, `samples` and the divisor.
Pool make_pool(Tiling tiling, size_t spatial, const Window* windows, const Tensor& volume,
               const Tensor& pooled);

// Fills `windows` for an adaptive pool. InvalidArgument unless `output_size` has `spatial` values of at least
// 0, the rank is spatial + 1 or spatial + 2, and no spatial dimension is empty.
Error plan_adaptive(const Tensor& self, Span<const int64_t> output_size, size_t spatial, Window* windows);

// Calls f for every element of `pooled`, in the order of its indices; `index` is null if the pool has none.
// Cost: a few instructions for each element besides f; extents of outer dimensions are computed when their
// index changes.
using PoolFunction = void (*)(const Pool& pool, const Region& region, char* pooled, char* index);
void for_each_region(const Pool& pool, PoolFunction f);

}  // namespace rushlight::kernels
