// SPDX-License-Identifier: BSD-3-Clause
// Rows of results are numbered by batch, channel and row; a thread's range is divided into whole planes of
// one image, and parts of planes at its ends.
#include "kernels/host/pooling/pool_planes.h"

#include <algorithm>

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);

ukernel::PoolAxis axis_of(const Window& window) {
  return {static_cast<size_t>(window.in),       static_cast<size_t>(window.kernel),
          static_cast<size_t>(window.step),     static_cast<size_t>(window.pad),
          static_cast<size_t>(window.dilation), static_cast<size_t>(window.out)};
}

}  // namespace

bool has_pool_planes(const Pool& pool) {
  const Window& columns = pool.windows[2];
  // A single window in a row has no neighbor to share anything with.
  if (pool.volume.type != ScalarType::Float || pool.tiling != window_tiling || columns.out <= 1) return false;
  const auto reach = static_cast<int64_t>(ukernel::kPoolReach);
  return pool.indices.data == nullptr && pool.volume.strides[4] == kFloat &&
         pool.pooled.strides[4] == kFloat && columns.kernel <= reach && columns.dilation <= reach &&
         (columns.kernel - 1) * columns.dilation < reach;
}

void pool_planes(KernelContext& context, const Pool& pool, void (*compute)(const ukernel::PoolPlanes&)) {
  const View& volume = pool.volume;
  const View& pooled = pool.pooled;
  const auto height = static_cast<size_t>(pooled.sizes[3]);
  const auto channels = static_cast<size_t>(pooled.sizes[1]);
  constexpr size_t kElements = 16384;  // worth another thread
  // About the number of inputs that a row of windows reads for the first time.
  const auto each = static_cast<size_t>(volume.sizes[4] * pool.windows[1].step);
  ukernel::PoolPlanes planes;
  planes.rows = axis_of(pool.windows[1]);
  planes.columns = axis_of(pool.windows[2]);
  planes.x_row = volume.strides[3] / kFloat;
  planes.y_row = pooled.strides[3] / kFloat;
  planes.x_plane = volume.strides[1] / kFloat;
  planes.y_plane = pooled.strides[1] / kFloat;
  planes.divisor = static_cast<float>(pool.divisor);
  planes.counts_padding = pool.counts_padding;
  const size_t rows = static_cast<size_t>(pooled.sizes[0]) * channels * height;
  context.parallel_for(rows, kElements / (each + 1) + 1, [&](size_t begin, size_t end, size_t) {
    ukernel::PoolPlanes part = planes;
    while (begin < end) {
      const auto n = static_cast<ptrdiff_t>(begin / height / channels);
      const auto c = static_cast<ptrdiff_t>(begin / height % channels);
      part.first = begin % height;
      part.count = std::min(end - begin, height - part.first);
      const size_t whole = (end - begin) / height;
      part.planes = part.first > 0 || whole == 0 ? 1 : std::min(whole, channels - static_cast<size_t>(c));
      const auto at = [&](const View& view) {
        return reinterpret_cast<float*>(view.data + n * view.strides[0] + c * view.strides[1]);
      };
      part.x = at(volume);
      part.y = at(pooled) + static_cast<ptrdiff_t>(part.first) * part.y_row;
      compute(part);
      begin += part.planes * part.count;
    }
  });
}

}  // namespace rushlight::kernels::host
