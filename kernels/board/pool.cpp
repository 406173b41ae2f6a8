// SPDX-License-Identifier: BSD-3-Clause
// Pools of images, one window at a time. A window's position and its clipped size are the same for all
// channels, so these are the inner loop: their cost is spread over it, in either layout.
#include "kernels/backs/pool.h"

#include <cstdint>

#include "kernels/geometry/region.h"

namespace rushlight::kernels::board {

namespace {

// The elements of a window in one channel, and its position in the plane. Strides in bytes.
struct PlaneWindow {
  ptrdiff_t rows;
  ptrdiff_t columns;
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
  ptrdiff_t first_row;
  ptrdiff_t first_column;
  float divisor;  // of an average
};

// Returns the divisor of a window's sum. An empty window sums to 0, with any divisor.
float divisor_of(const Pool& pool, const PlaneWindow& window, int64_t padded) {
  const ptrdiff_t size = window.rows * window.columns;
  if (size == 0) return 1;
  if (pool.divisor != 0) return static_cast<float>(pool.divisor);
  return static_cast<float>(static_cast<int32_t>(pool.counts_padding ? padded : size));
}

// Calls f(window, elements, output, index) for each channel of each window.
template <class F>
void for_each_window(const Pool& pool, F f) {
  const View& volume = pool.volume;
  const View& pooled = pool.pooled;
  ptrdiff_t at[kVolume + 2] = {};
  PlaneWindow window;
  for (at[0] = 0; at[0] < pooled.sizes[0]; ++at[0]) {
    for (at[3] = 0; at[3] < pooled.sizes[3]; ++at[3]) {
      const Extent down = pool.tiling(pool, 1, at);
      for (at[4] = 0; at[4] < pooled.sizes[4]; ++at[4]) {
        const Extent along = pool.tiling(pool, 2, at);
        window.rows = static_cast<ptrdiff_t>(down.count);
        window.columns = static_cast<ptrdiff_t>(along.count);
        window.row_stride = volume.strides[3] * static_cast<ptrdiff_t>(pool.windows[1].dilation);
        window.column_stride = volume.strides[4] * static_cast<ptrdiff_t>(pool.windows[2].dilation);
        window.first_row = static_cast<ptrdiff_t>(down.begin);
        window.first_column = static_cast<ptrdiff_t>(along.begin);
        window.divisor = divisor_of(pool, window, down.padded * along.padded);
        const char* from = volume.data + at[0] * volume.strides[0] + window.first_row * volume.strides[3] +
                           window.first_column * volume.strides[4];
        char* to = pooled.data;
        char* index = pool.indices.data;
        for (size_t d = 0; d < kVolume + 2; ++d) {
          if (d == 1) continue;
          to += at[d] * pooled.strides[d];
          if (index != nullptr) index += at[d] * pool.indices.strides[d];
        }
        for (ptrdiff_t c = pooled.sizes[1]; c > 0; --c) {
          f(window, from, reinterpret_cast<float*>(to), reinterpret_cast<int64_t*>(index));
          from += volume.strides[1];
          to += pooled.strides[1];
          if (index != nullptr) index += pool.indices.strides[1];
        }
      }
    }
  }
}

// Calls f(element, row, column) for the elements of a window.
template <class F>
[[gnu::always_inline]] inline void for_each_element(const PlaneWindow& window, const char* from, F f) {
  for (ptrdiff_t i = 0; i < window.rows; ++i, from += window.row_stride) {
    const char* at = from;
    for (ptrdiff_t j = 0; j < window.columns; ++j, at += window.column_stride) {
      f(*reinterpret_cast<const float*>(at), i, j);
    }
  }
}

}  // namespace

Error avg_pool2d(KernelContext&, const AveragePoolProblem& problem) {
  for_each_window(problem.pool, [](const PlaneWindow& window, const char* from, float* to, int64_t*) {
    float sum = 0;
    for_each_element(window, from, [&](float number, ptrdiff_t, ptrdiff_t) { sum += number; });
    *to = sum / window.divisor;
  });
  return Error::Ok;
}

// NaN beats everything, and the last NaN wins; of other equal elements the first.
Error max_pool2d(KernelContext&, const MaxPoolProblem& problem) {
  const Window* windows = problem.windows;
  Pool pool = make_pool(window_tiling, 2, windows, problem.self, problem.out);
  if (problem.indices != nullptr) pool.indices = as_volume(*problem.indices, 2);
  const auto width = static_cast<ptrdiff_t>(windows[1].in);
  const auto down = static_cast<ptrdiff_t>(windows[0].dilation);
  const auto across = static_cast<ptrdiff_t>(windows[1].dilation);
  for_each_window(pool, [&](const PlaneWindow& window, const char* from, float* to, int64_t* index) {
    float largest = -__builtin_inff();
    ptrdiff_t row = 0, column = 0;
    for_each_element(window, from, [&](float number, ptrdiff_t i, ptrdiff_t j) {
      if (!(number > largest) && number == number) return;  // NaN does not equal itself
      largest = number;
      row = i;
      column = j;
    });
    *to = largest;
    if (index != nullptr)
      *index = (window.first_row + row * down) * width + window.first_column + column * across;
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
