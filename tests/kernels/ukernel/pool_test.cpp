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

std::minstd_rand random_bits;
struct Pool {
  const char* name;
  void (*largest)(size_t, const PoolWindow&, const PoolIndices&, const float*, float*, int64_t*);
  void (*average)(size_t, const PoolWindow&, float, const float*, float*);
  void (*largest_i8)(size_t, const PoolWindow&, const PoolIndices&, const int8_t*, int8_t*, int64_t*);
  void (*largest_u8)(size_t, const PoolWindow&, const PoolIndices&, const uint8_t*, uint8_t*, int64_t*);
};
RL_VARIANTS(Pool, variants, max_pool, average_pool, max_pool_i8, max_pool_u8)
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
