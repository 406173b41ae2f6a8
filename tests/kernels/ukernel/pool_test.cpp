// SPDX-License-Identifier: BSD-3-Clause
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
  void (*largest)(size_t, const PoolWindow&, const PoolNumbers&, const float*, float*, int64_t*);
  void (*average)(size_t, const PoolWindow&, float, const float*, float*);
};
RL_VARIANTS(Pool, variants, max_pool, average_pool)
std::ostream& operator<<(std::ostream& out, const Pool& pool) { return out << pool.name; }

class PoolVariant : public ::testing::TestWithParam<Pool> {};
INSTANTIATE_TEST_SUITE_P(Variants, PoolVariant, ::testing::ValuesIn(variants()));

// Windows over a buffer that ends where the last one does.
void check(const Pool& pool, size_t count, const PoolWindow& window, bool odd_numbers) {
  const PoolNumbers numbers{7, 100, 3, static_cast<int32_t>(window.lane)};
  ptrdiff_t last = static_cast<ptrdiff_t>(count - 1) * window.lane;
  if (window.rows > 0) last += static_cast<ptrdiff_t>(window.rows - 1) * window.row;
  if (window.columns > 0) last += static_cast<ptrdiff_t>(window.columns - 1) * window.column;
  Guarded<float> x(static_cast<size_t>(last) + 1);
  for (float& each : x) {
    const auto bits = random_bits() % 40;
    each = static_cast<float>(bits % 9) - 4.0f;
    if (odd_numbers && bits < 3) each = bits == 0 ? kNan : -kInfinity;
  }
  Guarded<float> y(count);
  Guarded<int64_t> index(count);
  pool.largest(count, window, numbers, x.data(), y.data(), index.data());
  for (size_t i = 0; i < count; ++i) {
    int64_t place = 0;
    const float expected = reference::max_pool(i, window, numbers, x.data(), &place);
    EXPECT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected))) << count << " " << i;
    EXPECT_EQ(index[i], place) << count << " " << i;
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

}  // namespace
}  // namespace rushlight::ukernel
