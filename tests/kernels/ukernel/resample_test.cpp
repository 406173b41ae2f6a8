// SPDX-License-Identifier: BSD-3-Clause
// Interpolations against float formulas of one element; a variant may use fused multiply-adds, hence 1e-6 for
// one blend and 2e-6 for two.
#include "kernels/ukernel/resample.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/resample.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Functions {
  const char* name;
  decltype(&native::resample_gather) gather;
  decltype(&native::resample_repeat) repeat;
  decltype(&native::resample_blend) blend;
  decltype(&native::resample_pixel) pixel;
  decltype(&native::resample_between) between;
};
RL_VARIANTS(Functions, all, resample_gather, resample_repeat, resample_blend, resample_pixel,
            resample_between)

class Resample : public ::testing::TestWithParam<Functions> {
 protected:
  template <class T>
  void fill(Guarded<T>& values, T end) {
    for (T& value : values) value = static_cast<T>(std::uniform_real_distribution<double>(0, end)(random_));
  }
  std::mt19937 random_{5};
};

TEST_P(Resample, Rows_AnySize_AreThoseOfTheReference) {
  for (size_t n = 0; n < 70; ++n) {
    Guarded<float> row(n + 1);
    Guarded<float> other(n);
    Guarded<float> share(n);
    Guarded<int32_t> first(n);
    Guarded<int32_t> second(n);
    Guarded<float> out(n);
    fill(row, 9.0f);
    fill(other, 9.0f);
    fill(share, 1.0f);
    fill(first, static_cast<int32_t>(n + 1));
    fill(second, static_cast<int32_t>(n + 1));
    std::vector<float> expected(n);

    GetParam().gather(n, row.data(), first.data(), out.data());
    reference::resample_gather(n, row.data(), first.data(), expected.data());
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], expected[i]);

    GetParam().blend(n, row.data(), other.data(), 0.3f, out.data());
    reference::resample_blend(n, row.data(), other.data(), 0.3f, expected.data());
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(out[i], expected[i], 1e-6f);

    const float* const lower = row.data() + 1;
    GetParam().pixel(n, row.data(), other.data(), share.data(), lower, 0.3f, 0.6f, out.data());
    reference::resample_pixel(n, row.data(), other.data(), share.data(), lower, 0.3f, 0.6f, expected.data());
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(out[i], expected[i], 2e-6f);

    GetParam().between(n, row.data(), first.data(), second.data(), share.data(), out.data());
    reference::resample_between(n, row.data(), first.data(), second.data(), share.data(), expected.data());
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(out[i], expected[i], 1e-6f);
  }
}

TEST_P(Resample, Repeat_AnySizeAndTimes_IsThatOfTheReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (size_t n = 0; n < 70; ++n) {
      for (size_t across = 1; across <= 6; ++across) {
        RepeatedRows r;
        r.rows = 2;
        r.n = n;
        r.down = 1 + (n + across) % 3;
        r.across = across;
        r.from_stride = static_cast<ptrdiff_t>(n + 1);
        r.to_stride = static_cast<ptrdiff_t>(n * across + 2);
        Guarded<float> from(2 * n + 1, edge);
        Guarded<float> to((2 * r.down - 1) * (n * across + 2) + n * across, edge);
        fill(from, 9.0f);
        std::fill(to.begin(), to.end(), -1.0f);
        std::vector<float> expected(to.begin(), to.end());
        r.from = from.data();
        r.to = expected.data();
        reference::resample_repeat(r);
        r.to = to.data();
        GetParam().repeat(r);
        EXPECT_TRUE(std::equal(to.begin(), to.end(), expected.begin())) << n << " x " << across;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Resample, ::testing::ValuesIn(all()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rushlight::ukernel
