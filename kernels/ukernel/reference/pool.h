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

}  // namespace rushlight::ukernel::reference
