// SPDX-License-Identifier: BSD-3-Clause
// Pools of lines of windows, against the reference. Buffers have exactly the elements of the windows.
#include "kernels/ukernel/pool_lines.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/pool_lines.h"
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

// Calls f(line, numbers, out, index) for lines of several shapes, with the memory that they refer to.
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
          f(line, numbers, out, index);
        }
      }
    }
  }
}

bool are_same(float got, float expected) {
  return got == expected || (std::isnan(got) && std::isnan(expected));
}

TEST(MaxLine, AnyWindows_FindLargestAndItsIndex) {
  for_each_line(
      [](PoolLine line, PoolNumbers numbers, const Guarded<float>& out, const Guarded<int64_t>& index) {
        Guarded<float> expected(out.size());
        Guarded<int64_t> expected_index(index.size());
        for (const bool has_index : {true, false}) {
          if (!has_index) numbers.out = nullptr;
          native::max_line(line, numbers);
          line.out = reinterpret_cast<char*>(expected.data());
          if (has_index) numbers.out = reinterpret_cast<char*>(expected_index.data());
          reference::max_line(line, numbers);
          line.out = reinterpret_cast<char*>(const_cast<float*>(out.data()));
          for (size_t i = 0; i < out.size(); ++i) EXPECT_TRUE(are_same(out[i], expected[i])) << i;
          for (size_t i = 0; i < index.size(); ++i) EXPECT_EQ(index[i], expected_index[i]) << i;
        }
      });
}

TEST(AverageLine, AnyWindows_DivideSums) {
  for_each_line([](PoolLine line, const PoolNumbers&, const Guarded<float>& out, const Guarded<int64_t>&) {
    Guarded<float> expected(out.size());
    native::average_line(line, 3);
    line.out = reinterpret_cast<char*>(expected.data());
    reference::average_line(line, 3);
    for (size_t i = 0; i < out.size(); ++i) EXPECT_TRUE(are_same(out[i], expected[i])) << i;
  });
}

}  // namespace
}  // namespace rushlight::ukernel
