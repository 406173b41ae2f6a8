// SPDX-License-Identifier: BSD-3-Clause
// Pools of images. Windows of a row that see the same number of elements form lines; a line follows the
// channels instead if there are more of them. The windows of a row are planned once for all rows.
#include "kernels/backs/pool.h"

#include <algorithm>
#include <cstdint>

#include "kernels/geometry/region.h"

namespace rushlight::kernels::board {

namespace {

// `count` windows of one shape. Strides in bytes.
struct Line {
  ptrdiff_t rows;  // elements of a window
  ptrdiff_t columns;
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
  const char* in;  // the first element of the first window
  ptrdiff_t in_step;
  char* out;
  ptrdiff_t out_step;
  ptrdiff_t count;
  float divisor;  // of averages
};

// Positions in the plane, of maxima: of the first window's first element, and from one to the next element
// below, to the right, and in the next window.
struct Positions {
  ptrdiff_t first;
  ptrdiff_t down;
  ptrdiff_t across;
  ptrdiff_t step;
  char* out;  // int64; null: none
  ptrdiff_t out_step;
};

constexpr ptrdiff_t kTogether = 4;  // averages that share the loops over their windows

// Averages of kCount windows.
template <ptrdiff_t kCount>
[[gnu::noinline]] void average(const Line& line, const char* in, char* out) {
  float sums[kCount] = {};
  const ptrdiff_t row_step = line.row_stride - line.columns * line.column_stride;
  const char* at[kCount];
#pragma GCC unroll 4
  for (ptrdiff_t i = 0; i < kCount; ++i) at[i] = in + i * line.in_step;
  const auto advance = [&](ptrdiff_t step) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (ptrdiff_t i = 0; i < kCount; ++i) at[i] += step;
  };
  for (ptrdiff_t rows = line.columns > 0 ? line.rows : 0; rows > 0; --rows) {
    for (ptrdiff_t columns = line.columns; columns > 0; --columns) {
#pragma GCC unroll 4
      for (ptrdiff_t i = 0; i < kCount; ++i) sums[i] += *reinterpret_cast<const float*>(at[i]);
      advance(line.column_stride);
    }
    advance(row_step);
  }
#pragma GCC unroll 4
  for (ptrdiff_t i = 0; i < kCount; ++i, out += line.out_step) {
    *reinterpret_cast<float*>(out) = sums[i] / line.divisor;
  }
}

[[gnu::noinline]] void average_line(const Line& line) {
  const char* in = line.in;
  char* out = line.out;
  ptrdiff_t left = line.count;
  for (; left >= kTogether; left -= kTogether) {
    average<kTogether>(line, in, out);
    in += kTogether * line.in_step;
    out += kTogether * line.out_step;
  }
  for (; left > 0; --left, in += line.in_step, out += line.out_step) average<1>(line, in, out);
}

// The largest element of a window; returns its number, counted from the end. NaN beats everything, and the
// last NaN wins; of other equal elements the first.
[[gnu::always_inline]] inline size_t find_largest(const Line& line, const char* in, float* out) {
  float largest = -__builtin_inff();
  const auto columns = static_cast<size_t>(line.columns);
  const ptrdiff_t step = line.column_stride;
  size_t left = static_cast<size_t>(line.rows) * columns, found = left;
  while (left > 0) {
    const char* at = in;
    const size_t end = left - columns;
    do {
      const float number = *reinterpret_cast<const float*>(at);
      at += step;
      // One comparison for most elements; false for NaN.
      if (__builtin_expect(!(number <= largest), 0) && (number > largest || number != number)) {
        largest = number;
        found = left;
      }
    } while (--left != end);
    in += line.row_stride;
  }
  *out = largest;
  return found;
}

[[gnu::noinline]] void max_line(const Line& line, const Positions& positions) {
  const char* in = line.in;
  char* out = line.out;
  char* index = positions.out;
  ptrdiff_t first = positions.first;
  const ptrdiff_t all = line.rows * line.columns;
  for (ptrdiff_t left = line.count; left > 0; --left, in += line.in_step, out += line.out_step) {
    const auto found = static_cast<ptrdiff_t>(find_largest(line, in, reinterpret_cast<float*>(out)));
    if (index == nullptr) continue;
    const ptrdiff_t number = all - found;
    const ptrdiff_t row = number == 0 ? 0 : number / line.columns;
    const ptrdiff_t column = number - row * line.columns;
    *reinterpret_cast<int64_t*>(index) = first + row * positions.down + column * positions.across;
    index += positions.out_step;
    first += positions.step;
  }
}

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

// Calls f(line, positions) for lines of all windows and channels.
template <class F>
void for_each_line(const Pool& pool, F f) {
  const View& volume = pool.volume;
  const View& pooled = pool.pooled;
  const View& indices = pool.indices;
  const bool has_index = indices.data != nullptr;
  const auto width = static_cast<ptrdiff_t>(pool.windows[2].in);
  const auto dilation = static_cast<ptrdiff_t>(pool.windows[1].dilation);
  Line line;
  Positions positions;
  line.row_stride = volume.strides[3] * dilation;
  positions.down = width * dilation;
  positions.across = static_cast<ptrdiff_t>(pool.windows[2].dilation);
  line.column_stride = volume.strides[4] * positions.across;
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
      line.rows = static_cast<ptrdiff_t>(down.count);
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
        line.columns = along.count;
        line.divisor = divisor_of(pool, line.rows * line.columns, down.padded * along.padded);
        const ptrdiff_t channels = pooled.sizes[1];
        const bool along_channels = channels > alike;
        line.count = along_channels ? channels : alike;
        line.in_step = along_channels ? volume.strides[1] : step * volume.strides[4];
        line.out_step = pooled.strides[along_channels ? 1 : 4];
        positions.first = static_cast<ptrdiff_t>(down.begin) * width + along.begin;
        positions.step = along_channels ? 0 : step;
        positions.out_step = has_index ? indices.strides[along_channels ? 1 : 4] : 0;
        const ptrdiff_t lines = along_channels ? alike : channels;
        const auto offset = [&](const View& view) {
          return view.data + at[3] * view.strides[3] + (first + i) * view.strides[4];
        };
        for (ptrdiff_t n = 0; n < pooled.sizes[0]; ++n) {
          line.in = volume.data + n * volume.strides[0] +
                    static_cast<ptrdiff_t>(down.begin) * volume.strides[3] + along.begin * volume.strides[4];
          line.out = offset(pooled) + n * pooled.strides[0];
          positions.out = has_index ? offset(indices) + n * indices.strides[0] : nullptr;
          Positions here = positions;
          for (ptrdiff_t left = lines; left > 0; --left) {
            f(line, here);
            line.in += along_channels ? step * volume.strides[4] : volume.strides[1];
            line.out += pooled.strides[along_channels ? 4 : 1];
            if (along_channels) here.first += step;
            if (has_index) here.out += indices.strides[along_channels ? 4 : 1];
          }
        }
      }
    }
  }
}

}  // namespace

Error avg_pool2d(KernelContext&, const AveragePoolProblem& problem) {
  for_each_line(problem.pool, [](const Line& line, const Positions&) { average_line(line); });
  return Error::Ok;
}

Error max_pool2d(KernelContext&, const MaxPoolProblem& problem) {
  Pool pool = make_pool(window_tiling, 2, problem.windows, problem.self, problem.out);
  if (problem.indices != nullptr) pool.indices = as_volume(*problem.indices, 2);
  for_each_line(pool, max_line);
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
