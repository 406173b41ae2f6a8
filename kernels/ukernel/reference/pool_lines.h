// SPDX-License-Identifier: BSD-3-Clause
// Reference of pools of lines, for tests, which compare bits.
#pragma once

#include <limits>

#include "kernels/ukernel/pool_lines.h"

namespace rushlight::ukernel::reference {

// Calls f(element, index) for the elements of window i in order.
template <class F>
void for_each_element(const PoolLine& line, const PoolNumbers& numbers, size_t i, F f) {
  const auto window = static_cast<ptrdiff_t>(i);
  for (ptrdiff_t r = 0; r < static_cast<ptrdiff_t>(line.rows); ++r) {
    for (ptrdiff_t c = 0; c < static_cast<ptrdiff_t>(line.columns); ++c) {
      const char* at = line.in + window * line.in_step + r * line.row_stride + c * line.column_stride;
      f(*reinterpret_cast<const float*>(at),
        numbers.first + window * numbers.step + r * numbers.down + c * numbers.across);
    }
  }
}

inline void max_line(const PoolLine& line, const PoolNumbers& numbers) {
  for (size_t i = 0; i < line.count; ++i) {
    const auto window = static_cast<ptrdiff_t>(i);
    float most = -std::numeric_limits<float>::infinity();
    ptrdiff_t found = numbers.first + window * numbers.step;
    for_each_element(line, numbers, i, [&](float number, ptrdiff_t at) {
      if (!(number > most || number != number)) return;
      most = number;
      found = at;
    });
    *reinterpret_cast<float*>(line.out + window * line.out_step) = most;
    if (numbers.out != nullptr) *reinterpret_cast<int64_t*>(numbers.out + window * numbers.out_step) = found;
  }
}

inline void average_line(const PoolLine& line, float divisor) {
  for (size_t i = 0; i < line.count; ++i) {
    float sum = 0;
    for_each_element(line, {}, i, [&](float number, ptrdiff_t) { sum += number; });
    *reinterpret_cast<float*>(line.out + static_cast<ptrdiff_t>(i) * line.out_step) = sum / divisor;
  }
}

}  // namespace rushlight::ukernel::reference
