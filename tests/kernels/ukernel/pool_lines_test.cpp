// SPDX-License-Identifier: BSD-3-Clause
// Pools of lines of windows, against the definition. Buffers have exactly the elements of the windows.
#include "kernels/ukernel/pool_lines.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/kernels/ukernel/guarded.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

// Few different values, so that many are equal, and some NaN and infinities.
void fill(Guarded<float>& floats) {
  static std::minstd_rand engine;  // a local: on bare metal no constructors run before main
  for (float& each : floats) {
    const auto bits = static_cast<uint32_t>(engine()) >> 8;
    each = static_cast<float>(bits % 9) - 4;
    if (bits % 37 == 0) each = std::numeric_limits<float>::quiet_NaN();
    if (bits % 31 == 0) each = -std::numeric_limits<float>::infinity();
  }
}

// Calls f(line, numbers, in, out, index) for lines of several shapes, with the memory that they refer to.
template <class F>
void for_each_line(F f) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  for (const size_t count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 17}) {
    for (const size_t rows : {0, 1, 3}) {
      for (const size_t columns : {0, 1, 2, 5}) {
        for (const ptrdiff_t step : {1, 2, 9}) {
          const ptrdiff_t across = step == 9 ? 2 : 1, out_step = step == 2 ? 3 : 1;
          const auto reach = static_cast<ptrdiff_t>(columns) * across;
          const ptrdiff_t down = static_cast<ptrdiff_t>(count) * step + reach;
          const auto size = static_cast<size_t>(down) * rows;
          Guarded<float> in(size + 1, Edge::kBack), out(count * static_cast<size_t>(out_step));
          Guarded<int64_t> index(count * 2);
          fill(in);
          // The last element of the last window is the last one of the buffer.
          const ptrdiff_t last = static_cast<ptrdiff_t>(rows == 0 ? 0 : rows - 1) * down + reach - across +
                                 (static_cast<ptrdiff_t>(count) - 1) * step;
          const ptrdiff_t first = static_cast<ptrdiff_t>(size) - (last > 0 ? last : 0);
          PoolLine line{rows,
                        columns,
                        down * kBytes,
                        across * kBytes,
                        reinterpret_cast<const char*>(in.data() + first),
                        step * kBytes,
                        reinterpret_cast<char*>(out.data()),
                        out_step * kBytes,
                        count};
          PoolNumbers numbers{7,
                              static_cast<int32_t>(down),
                              static_cast<int32_t>(across),
                              static_cast<int32_t>(step),
                              reinterpret_cast<char*>(index.data()),
                              16};
          f(line, numbers, in.data() + first, out, index);
        }
      }
    }
  }
}

// Calls f(element, index) for the elements of window i in order.
template <class F>
void for_each_element(const PoolLine& line, const PoolNumbers& numbers, const float* in, size_t i, F f) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  const auto window = static_cast<ptrdiff_t>(i);
  for (ptrdiff_t r = 0; r < static_cast<ptrdiff_t>(line.rows); ++r) {
    for (ptrdiff_t c = 0; c < static_cast<ptrdiff_t>(line.columns); ++c) {
      const ptrdiff_t at = window * line.in_step + r * line.row_stride + c * line.column_stride;
      f(in[at / kBytes], numbers.first + window * numbers.step + r * numbers.down + c * numbers.across);
    }
  }
}

TEST(MaxLine, AnyWindows_FindLargestAndItsIndex) {
  for_each_line([](const PoolLine& line, PoolNumbers numbers, const float* in, const Guarded<float>& out,
                   const Guarded<int64_t>& index) {
    for (const bool has_index : {true, false}) {
      if (!has_index) numbers.out = nullptr;
      native::max_line(line, numbers);
      for (size_t i = 0; i < line.count; ++i) {
        float most = -std::numeric_limits<float>::infinity();
        ptrdiff_t found = numbers.first + static_cast<ptrdiff_t>(i) * numbers.step;
        for_each_element(line, numbers, in, i, [&](float number, ptrdiff_t at) {
          if (!(number > most || std::isnan(number))) return;
          most = number;
          found = at;
        });
        const float got = out[i * static_cast<size_t>(line.out_step) / sizeof(float)];
        EXPECT_TRUE(got == most || (std::isnan(got) && std::isnan(most))) << i;
        if (has_index) EXPECT_EQ(index[2 * i], found) << i;
      }
    }
  });
}

TEST(AverageLine, AnyWindows_DivideSums) {
  for_each_line([](const PoolLine& line, const PoolNumbers& numbers, const float* in,
                   const Guarded<float>& out, const Guarded<int64_t>&) {
    native::average_line(line, 3);
    for (size_t i = 0; i < line.count; ++i) {
      float sum = 0;
      for_each_element(line, numbers, in, i, [&](float number, ptrdiff_t) { sum += number; });
      const float got = out[i * static_cast<size_t>(line.out_step) / sizeof(float)];
      EXPECT_TRUE(got == sum / 3 || (std::isnan(got) && std::isnan(sum))) << i;
    }
  });
}

}  // namespace
}  // namespace rushlight::ukernel
