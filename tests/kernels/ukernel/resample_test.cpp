// SPDX-License-Identifier: BSD-3-Clause
// Sums against float formulas of one element; a variant may use fused multiply-adds, hence 1e-6 of the
// largest sum of products.
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
  decltype(&native::resample_sum) sum;
  decltype(&native::resample_along) along;
};
RL_VARIANTS(Functions, all, resample_gather, resample_repeat, resample_sum, resample_along)

class Resample : public ::testing::TestWithParam<Functions> {
 protected:
  template <class T>
  void fill(Guarded<T>& values, T end) {
    for (T& value : values) value = static_cast<T>(std::uniform_real_distribution<double>(0, end)(random_));
  }
  std::mt19937 random_{5};
};

TEST_P(Resample, Gather_AnySize_IsThatOfTheReference) {
  for (size_t n = 0; n < 70; ++n) {
    Guarded<float> row(n + 1);
    Guarded<int32_t> first(n);
    Guarded<float> out(n);
    fill(row, 9.0f);
    fill(first, static_cast<int32_t>(n + 1));
    std::vector<float> expected(n);
    GetParam().gather(n, row.data(), first.data(), out.data());
    reference::resample_gather(n, row.data(), first.data(), expected.data());
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], expected[i]);
  }
}

TEST_P(Resample, Sum_AnySizeAndTaps_IsThatOfTheReference) {
  const float weights[] = {0.5f, -0.25f, 0.75f, 0.125f, 0.3f, -0.1f, 0.2f, 0.4f, 0.6f};
  for (size_t n = 0; n < 150; ++n) {
    for (size_t taps = 1; taps <= 9; ++taps) {
      Guarded<float> values(n * taps);
      Guarded<float> out(n);
      fill(values, 9.0f);
      std::vector<const float*> rows;
      for (size_t t = 0; t < taps; ++t) rows.push_back(values.data() + t * n);
      std::vector<float> expected(n);
      GetParam().sum(n, taps, rows.data(), weights, out.data());
      reference::resample_sum(n, taps, rows.data(), weights, expected.data());
      for (size_t i = 0; i < n; ++i) EXPECT_NEAR(out[i], expected[i], 3e-5f) << n << " x " << taps;
    }
  }
}

// Rows that grow, keep their length and shrink: neighbors in one vector, and far apart.
TEST_P(Resample, Along_AnySizeTapsAndScale_IsThatOfTheReference) {
  for (const double scale : {0.1, 0.5, 0.9, 1.0, 1.3, 2.5, 40.0}) {
    for (size_t n = 1; n < 70; ++n) {
      for (const size_t taps : {size_t{1}, size_t{2}, size_t{4}}) {
        const size_t stride = n + kResampleSlack;
        Guarded<int32_t> first(stride);
        Guarded<float> weights(taps * stride);
        // Elements beyond n have any value.
        fill(first, 1000000);
        fill(weights, 1.0f);
        for (size_t i = 0; i < n; ++i) first[i] = static_cast<int32_t>(static_cast<double>(i) * scale + 3);
        Guarded<float> row(static_cast<size_t>(first[n - 1]) + taps + kResampleSlack);
        Guarded<float> out(n);
        fill(row, 9.0f);
        std::vector<float> expected(n);
        ResampledRow r;
        r.n = n;
        r.taps = taps;
        r.row = row.data();
        r.first = first.data();
        r.weights = weights.data();
        r.weight_stride = stride;
        r.out = expected.data();
        reference::resample_along(r);
        r.out = out.data();
        GetParam().along(r);
        for (size_t i = 0; i < n; ++i) EXPECT_NEAR(out[i], expected[i], 3e-5f) << n << " by " << scale;
      }
    }
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
