// SPDX-License-Identifier: BSD-3-Clause
// References of kernels/ukernel/pool.h for one result, average in double, for tests. Maxima and indices are
// exact: tests compare them by equality, the average to 2e-5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/ukernel/pool.h"

namespace rushlight::ukernel::reference {

// Calls f(element, row, column) for the window of result i, row by row: the order decides between equal
// elements.
template <class T, class F>
void for_each_element(size_t i, const PoolWindow& window, const T* x, F f) {
  for (size_t r = 0; r < window.rows; ++r) {
    for (size_t c = 0; c < window.columns; ++c) {
      f(x[static_cast<ptrdiff_t>(i) * window.lane + static_cast<ptrdiff_t>(r) * window.row +
          static_cast<ptrdiff_t>(c) * window.column],
        static_cast<int32_t>(r), static_cast<int32_t>(c));
    }
  }
}

// The maximum of window i and its index. Starts from the least value and the window's first index, so that an
// empty window has these. A later element wins if it is greater, or if it is NaN: the last NaN is the result.
// Bytes are never NaN.
template <class T>
T max_pool(size_t i, const PoolWindow& window, const PoolIndices& numbers, const T* x, int64_t* index) {
  using Limits = std::numeric_limits<T>;
  T best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const auto first = numbers.first + static_cast<int64_t>(i) * numbers.lane;
  *index = first;
  for_each_element(i, window, x, [&](T value, int32_t r, int32_t c) {
    if (!(value > best) && value == value) return;
    best = value;
    *index = first + int64_t{r} * numbers.row + int64_t{c} * numbers.column;
  });
  return best;
}

inline double average_pool(size_t i, const PoolWindow& window, float divisor, const float* x) {
  double sum = 0;
  for_each_element(i, window, x, [&](float value, int32_t, int32_t) { sum += static_cast<double>(value); });
  return sum / static_cast<double>(divisor);
}

// Calls f(element) for the window (row, column) of a plane, as far as it is inside, and returns the numbers
// of its rows and columns there.
template <class F>
void for_each_inside(const PoolPlanes& plane, size_t row, size_t column, F f, size_t (&counts)[2]) {
  counts[0] = counts[1] = 0;
  const auto position = [](const PoolAxis& axis, size_t window, size_t tap) {
    return static_cast<ptrdiff_t>(window * axis.step + tap * axis.dilation) -
           static_cast<ptrdiff_t>(axis.pad);
  };
  const auto is_inside = [](const PoolAxis& axis, ptrdiff_t at) {
    return at >= 0 && at < static_cast<ptrdiff_t>(axis.in);
  };
  for (size_t c = 0; c < plane.columns.kernel; ++c) {
    counts[1] += is_inside(plane.columns, position(plane.columns, column, c)) ? 1 : 0;
  }
  for (size_t r = 0; r < plane.rows.kernel; ++r) {
    const ptrdiff_t y = position(plane.rows, row, r);
    if (!is_inside(plane.rows, y)) continue;
    ++counts[0];
    for (size_t c = 0; c < plane.columns.kernel; ++c) {
      const ptrdiff_t x = position(plane.columns, column, c);
      if (is_inside(plane.columns, x)) f(plane.x[y * plane.x_row + x]);
    }
  }
}

inline float max_pool_planes(const PoolPlanes& plane, size_t row, size_t column) {
  float best = -std::numeric_limits<float>::infinity();
  size_t counts[2];
  const auto take = [&](float value) {
    if (value > best || value != value) best = value;
  };
  for_each_inside(plane, row, column, take, counts);
  return best;
}

inline double average_pool_planes(const PoolPlanes& plane, size_t row, size_t column) {
  double sum = 0;
  size_t counts[2];
  for_each_inside(plane, row, column, [&](float value) { sum += static_cast<double>(value); }, counts);
  if (counts[0] * counts[1] == 0) return 0;
  if (plane.divisor != 0) return sum / static_cast<double>(plane.divisor);
  const auto padded = [](const PoolAxis& axis, size_t window) {
    const size_t start = window * axis.step;
    const size_t end = start + axis.kernel;
    return (end < axis.in + 2 * axis.pad ? end : axis.in + 2 * axis.pad) - start;
  };
  const size_t all = padded(plane.rows, row) * padded(plane.columns, column);
  return sum / static_cast<double>(plane.counts_padding ? all : counts[0] * counts[1]);
}

}  // namespace rushlight::ukernel::reference
