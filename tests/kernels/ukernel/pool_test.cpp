// SPDX-License-Identifier: BSD-3-Clause
// Maxima and indices are exact, and the first of equal elements wins: most bytes of a sample are equal to
// test that. NaN wins over every number. Averages are compared with double precision.
#include "kernels/ukernel/pool.h"

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/pool.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kBetween = 12345;  // in gaps between results, which must stay

std::minstd_rand random_bits;
struct Pool {
  const char* name;
  void (*largest)(size_t, const PoolWindow&, const PoolIndices&, const float*, float*, int64_t*);
  void (*average)(size_t, const PoolWindow&, float, const float*, float*);
  void (*largest_i8)(size_t, const PoolWindow&, const PoolIndices&, const int8_t*, int8_t*, int64_t*);
  void (*largest_u8)(size_t, const PoolWindow&, const PoolIndices&, const uint8_t*, uint8_t*, int64_t*);
  void (*largest_plane)(const PoolPlanes&);
  void (*average_plane)(const PoolPlanes&);
};
RL_VARIANTS(Pool, variants, max_pool, average_pool, max_pool_i8, max_pool_u8, max_pool_planes,
            average_pool_planes)
std::ostream& operator<<(std::ostream& out, const Pool& pool) { return out << pool.name; }

class PoolVariant : public ::testing::TestWithParam<Pool> {};
INSTANTIATE_TEST_SUITE_P(Variants, PoolVariant, ::testing::ValuesIn(variants()));

size_t extent_of(size_t count, const PoolWindow& window) {
  ptrdiff_t last = static_cast<ptrdiff_t>(count - 1) * window.lane;
  if (window.rows > 0) last += static_cast<ptrdiff_t>(window.rows - 1) * window.row;
  if (window.columns > 0) last += static_cast<ptrdiff_t>(window.columns - 1) * window.column;
  return static_cast<size_t>(last) + 1;
}

template <class T, class F>
void check_bytes(F largest, size_t count, const PoolWindow& window, int least) {
  const PoolIndices numbers{7, 100, 3, static_cast<int32_t>(window.lane)};
  Guarded<T> x(extent_of(count, window));
  for (T& each : x)
    each = static_cast<T>(least + static_cast<int>(random_bits() % 4 == 0 ? random_bits() % 256 : 0));
  Guarded<T> y(count);
  Guarded<int64_t> index(count);
  largest(count, window, numbers, x.data(), y.data(), index.data());
  for (size_t i = 0; i < count; ++i) {
    int64_t found = 0;
    EXPECT_EQ(y[i], reference::max_pool(i, window, numbers, x.data(), &found)) << count << " " << i;
    EXPECT_EQ(index[i], found) << count << " " << i;
  }
  Guarded<T> alone(count);
  largest(count, window, numbers, x.data(), alone.data(), nullptr);
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(alone[i], y[i]) << count << " " << i;
}

// Windows over a buffer that ends at the last element of the last window.
void check(const Pool& pool, size_t count, const PoolWindow& window, bool odd_numbers) {
  const PoolIndices numbers{7, 100, 3, static_cast<int32_t>(window.lane)};
  Guarded<float> x(extent_of(count, window));
  for (float& each : x) {
    const auto bits = random_bits() % 40;
    each = static_cast<float>(bits % 9) - 4.0f;
    if (odd_numbers && bits < 3) each = bits == 0 ? kNan : -kInfinity;
  }
  Guarded<float> y(count);
  Guarded<int64_t> index(count);
  pool.largest(count, window, numbers, x.data(), y.data(), index.data());
  for (size_t i = 0; i < count; ++i) {
    int64_t found = 0;
    const float expected = reference::max_pool(i, window, numbers, x.data(), &found);
    EXPECT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected))) << count << " " << i;
    EXPECT_EQ(index[i], found) << count << " " << i;
  }
  Guarded<float> alone(count);
  pool.largest(count, window, numbers, x.data(), alone.data(), nullptr);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(alone[i] == y[i] || (std::isnan(alone[i]) && std::isnan(y[i]))) << count << " " << i;
  }
  pool.average(count, window, 6.0f, x.data(), y.data());
  for (size_t i = 0; i < count; ++i) {
    const double expected = reference::average_pool(i, window, 6.0f, x.data());
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(y[i]));
    } else if (std::isinf(expected)) {
      EXPECT_EQ(y[i], expected);
    } else {
      EXPECT_NEAR(y[i], expected, 2e-5) << count << " " << i;
    }
  }
}

TEST_P(PoolVariant, Windows_OfEveryKind_AreTheReferences) {
  for (const bool odd_numbers : {false, true}) {
    for (const size_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100}) {
      const auto apart = static_cast<ptrdiff_t>(count);
      check(GetParam(), count, {3, 3, 5 * apart, apart, 1}, odd_numbers);  // channels
      for (const ptrdiff_t step : {1, 2, 3}) {
        check(GetParam(), count, {2, 3, step * apart + 9, 1, step}, odd_numbers);
        check(GetParam(), count, {1, 2, 1, 2, step}, odd_numbers);
      }
      check(GetParam(), count, {0, 2, 1, 1, 1}, odd_numbers);
      check(GetParam(), count, {2, 0, 1, 1, 2}, odd_numbers);
    }
  }
}

// Planes of which the last one ends at a protected page, and results of rows [first, first + count). Without
// gaps, results may be written over later ones for a while.
void check_planes(const Pool& pool, PoolPlanes plane, bool odd_numbers, size_t gap) {
  const size_t x_row = plane.columns.in + gap;
  const size_t y_row = plane.columns.out + gap;
  const size_t x_plane = plane.rows.in * x_row + gap;
  const size_t y_plane = plane.count * y_row + gap;
  const size_t planes = plane.planes;
  Guarded<float> x((planes - 1) * x_plane + (plane.rows.in - 1) * x_row + plane.columns.in);
  for (float& each : x) {
    const auto bits = random_bits() % 60;
    each = static_cast<float>(bits % 9) - 4.0f;
    if (odd_numbers && bits < 3) each = bits == 0 ? kNan : -kInfinity;
  }
  Guarded<float> y((planes - 1) * y_plane + (plane.count - 1) * y_row + plane.columns.out);
  for (float& each : y) each = kBetween;
  plane.x = x.data();
  plane.x_row = static_cast<ptrdiff_t>(x_row);
  plane.y = y.data();
  plane.y_row = static_cast<ptrdiff_t>(y_row);
  plane.x_plane = static_cast<ptrdiff_t>(x_plane);
  plane.y_plane = static_cast<ptrdiff_t>(y_plane);
  const auto expect = [&](auto reference, double allowed) {
    for (size_t at = 0; at < y.size(); ++at) {
      const size_t p = at / y_plane;
      const size_t i = at % y_plane / y_row;
      const size_t j = at % y_plane % y_row;
      const auto actual = static_cast<double>(y[at]);
      if (i >= plane.count || j >= plane.columns.out) {
        EXPECT_EQ(y[at], kBetween) << p << " " << i << " " << j;
        continue;
      }
      PoolPlanes one = plane;
      one.x += p * x_plane;
      const auto expected = static_cast<double>(reference(one, plane.first + i, j));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(actual)) << p << " " << i << " " << j;
      } else if (std::isinf(expected)) {
        EXPECT_EQ(actual, expected) << p << " " << i << " " << j;
      } else {
        EXPECT_NEAR(actual, expected, allowed) << p << " " << i << " " << j;
      }
    }
  };
  pool.largest_plane(plane);
  expect(reference::max_pool_planes, 0);
  if (plane.rows.dilation * plane.columns.dilation > 1) return;
  for (const bool counts_padding : {false, true}) {
    plane.counts_padding = counts_padding;
    pool.average_plane(plane);
    expect(reference::average_pool_planes, 2e-5);
  }
  plane.divisor = 5;
  pool.average_plane(plane);
  expect(reference::average_pool_planes, 2e-5);
}

void check_plane(const Pool& pool, PoolPlanes plane, bool odd_numbers) {
  for (const size_t planes : {1, 9}) {
    plane.planes = planes;
    check_planes(pool, plane, odd_numbers, 0);
    check_planes(pool, plane, odd_numbers, 2);
  }
}

// Windows of one axis; with `more`, a last window that ends beyond the padding.
PoolAxis axis_of(size_t in, size_t kernel, size_t step, size_t pad, size_t dilation, bool more) {
  const size_t reach = (kernel - 1) * dilation + 1;
  PoolAxis axis{in, kernel, step, pad, dilation, (in + 2 * pad - reach) / step + 1};
  if (more && axis.out * step < in + pad) ++axis.out;
  return axis;
}

TEST_P(PoolVariant, Planes_AreTheReferences) {
  for (const bool odd_numbers : {false, true}) {
    for (const size_t width : {5, 7, 14, 16, 17, 33, 70}) {
      for (const size_t step : {1, 2, 3, 6, 20}) {
        const size_t down = step < 3 ? step : 3;
        for (const bool more : {false, true}) {
          PoolPlanes plane;
          plane.rows = axis_of(9, 3, down, 1, 1, more);
          plane.columns = axis_of(width, 3, step, 1, 1, more);
          plane.count = plane.rows.out;
          check_plane(GetParam(), plane, odd_numbers);
          plane.rows = axis_of(8, 2, down, 0, 1, more);
          plane.columns = axis_of(width, 4, step, 2, 1, more);
          plane.first = 1;
          plane.count = plane.rows.out - 1;
          check_plane(GetParam(), plane, odd_numbers);
          plane.rows = axis_of(9, 2, down, 1, 3, more);
          plane.columns = axis_of(width, 2, step, 1, 4, more);
          plane.count = plane.rows.out - 1;
          check_plane(GetParam(), plane, odd_numbers);
        }
      }
    }
  }
}

TEST_P(PoolVariant, WidePlanes_AreTheReferences) {
  for (const size_t step : {1, 2, 5}) {
    PoolPlanes plane;
    plane.rows = axis_of(3, 2, 1, 0, 1, false);
    plane.columns = axis_of(2500, 3, step, 1, 1, false);
    plane.count = plane.rows.out;
    check_plane(GetParam(), plane, false);
    plane.columns = axis_of(2500, kPoolReach, step, 100, 1, false);
    check_plane(GetParam(), plane, false);
    plane.columns = axis_of(2500, 2, step, 1, kPoolReach - 1, false);
    check_plane(GetParam(), plane, true);
  }
}

TEST_P(PoolVariant, WindowsOfBytes_AreTheReferences) {
  const auto check = [](size_t count, const PoolWindow& window) {
    check_bytes<int8_t>(GetParam().largest_i8, count, window, -128);
    check_bytes<uint8_t>(GetParam().largest_u8, count, window, 0);
  };
  for (const size_t count : {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200}) {
    const auto apart = static_cast<ptrdiff_t>(count);
    check(count, {3, 3, 5 * apart, apart, 1});
    check(count, {2, 3, 2 * apart + 9, 1, 2});
    check(count, {0, 2, 1, 1, 1});
    check(count, {2, 0, 1, 1, 1});
  }
  for (const size_t rows : {15, 16, 17}) check(70, {rows, 16, 16 * 70, 70, 1});  // taps that a byte can index
}

}  // namespace
}  // namespace rushlight::ukernel
