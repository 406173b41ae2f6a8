// SPDX-License-Identifier: BSD-3-Clause
// Pools of images. Windows of a row that see the same number of elements form lines; a line follows the
// channels instead if there are more of them. The windows of a row are planned once for all rows.
#include "kernels/backs/pool.h"

#include <algorithm>
#include <cstdint>

#include "kernels/geometry/region.h"
#include "kernels/ukernel/pool_lines.h"

namespace rushlight::kernels::board {

namespace {

// The windows of a row that are planned at a time: their columns are the same in all rows.
constexpr ptrdiff_t kPlanned = 16;
struct Columns {
  ptrdiff_t begin;
  ptrdiff_t count;
  ptrdiff_t padded;
};

// Returns the divisor of a window's sum. An empty window sums to 0, with any divisor.
float divisor_of(const Pool& pool, ptrdiff_t size, int64_t padded) {
  if (size == 0) return 1;
  if (pool.divisor != 0) return static_cast<float>(pool.divisor);
  return static_cast<float>(static_cast<int32_t>(pool.counts_padding ? padded : size));
}

// Calls f(line, numbers, divisor) for lines of all windows and channels.
template <class F>
void for_each_line(const Pool& pool, F f) {
  const View& volume = pool.volume;
  const View& pooled = pool.pooled;
  const View& indices = pool.indices;
  const bool has_index = indices.data != nullptr;
  const auto width = static_cast<ptrdiff_t>(pool.windows[2].in);
  const auto dilation = static_cast<ptrdiff_t>(pool.windows[1].dilation);
  ukernel::PoolLine line{};
  ukernel::PoolNumbers numbers{};
  line.row_stride = volume.strides[3] * dilation;
  numbers.down = static_cast<int32_t>(width * dilation);
  numbers.across = static_cast<int32_t>(pool.windows[2].dilation);
  line.column_stride = volume.strides[4] * numbers.across;
  Columns planned[kPlanned];
  ptrdiff_t at[kVolume + 2] = {};
  for (ptrdiff_t first = 0; first < pooled.sizes[4]; first += kPlanned) {
    const ptrdiff_t some = std::min<ptrdiff_t>(kPlanned, pooled.sizes[4] - first);
    for (ptrdiff_t i = 0; i < some; ++i) {
      at[4] = first + i;
      const Extent along = pool.tiling(pool, 2, at);
      planned[i] = {static_cast<ptrdiff_t>(along.begin), static_cast<ptrdiff_t>(along.count),
                    static_cast<ptrdiff_t>(along.padded)};
    }
    for (at[3] = 0; at[3] < pooled.sizes[3]; ++at[3]) {
      const Extent down = pool.tiling(pool, 1, at);
      line.rows = static_cast<size_t>(std::max<int64_t>(down.count, 0));
      for (ptrdiff_t i = 0, alike; i < some; i += alike) {
        // Windows like the first one, at a constant distance.
        const Columns& along = planned[i];
        const ptrdiff_t step = i + 1 < some ? planned[i + 1].begin - along.begin : 0;
        alike = 1;
        while (i + alike < some && planned[i + alike].count == along.count &&
               planned[i + alike].padded == along.padded &&
               planned[i + alike].begin - planned[i + alike - 1].begin == step) {
          ++alike;
        }
        line.columns = static_cast<size_t>(std::max<ptrdiff_t>(along.count, 0));
        const float divisor =
            divisor_of(pool, static_cast<ptrdiff_t>(line.rows * line.columns), down.padded * along.padded);
        const ptrdiff_t channels = pooled.sizes[1];
        const bool along_channels = channels > alike;
        line.count = static_cast<size_t>(along_channels ? channels : alike);
        line.in_step = along_channels ? volume.strides[1] : step * volume.strides[4];
        line.out_step = pooled.strides[along_channels ? 1 : 4];
        numbers.first = static_cast<int32_t>(static_cast<ptrdiff_t>(down.begin) * width + along.begin);
        numbers.step = along_channels ? 0 : static_cast<int32_t>(step);
        numbers.out_step = has_index ? indices.strides[along_channels ? 1 : 4] : 0;
        const ptrdiff_t lines = along_channels ? alike : channels;
        const auto offset = [&](const View& view) {
          return view.data + at[3] * view.strides[3] + (first + i) * view.strides[4];
        };
        for (ptrdiff_t n = 0; n < pooled.sizes[0]; ++n) {
          line.in = volume.data + n * volume.strides[0] +
                    static_cast<ptrdiff_t>(down.begin) * volume.strides[3] + along.begin * volume.strides[4];
          line.out = offset(pooled) + n * pooled.strides[0];
          numbers.out = has_index ? offset(indices) + n * indices.strides[0] : nullptr;
          ukernel::PoolNumbers here = numbers;
          for (ptrdiff_t left = lines; left > 0; --left) {
            f(line, here, divisor);
            line.in += along_channels ? step * volume.strides[4] : volume.strides[1];
            line.out += pooled.strides[along_channels ? 4 : 1];
            if (along_channels) here.first += static_cast<int32_t>(step);
            if (has_index) here.out += indices.strides[along_channels ? 4 : 1];
          }
        }
      }
    }
  }
}

}  // namespace

Error avg_pool2d(KernelContext&, const AveragePoolProblem& problem) {
  for_each_line(problem.pool, [](const ukernel::PoolLine& line, const ukernel::PoolNumbers&, float divisor) {
    ukernel::average_line(line, divisor);
  });
  return Error::Ok;
}

Error max_pool2d(KernelContext&, const MaxPoolProblem& problem) {
  Pool pool = make_pool(window_tiling, 2, problem.windows, problem.self, problem.out);
  if (problem.indices != nullptr) pool.indices = as_volume(*problem.indices, 2);
  for_each_line(pool, [](const ukernel::PoolLine& line, const ukernel::PoolNumbers& numbers, float) {
    ukernel::max_line(line, numbers);
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
