// SPDX-License-Identifier: BSD-3-Clause
// A product must also have the same bits alone and in a block: the contract says that a sum depends only on
// its two vectors.
#include "kernels/ukernel/dot.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/dot.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

struct Dot {
  const char* name;
  void (*products)(const DotProducts&);
};
RL_VARIANTS(Dot, variants, dot_products)

class DotTest : public ::testing::TestWithParam<Dot> {};
INSTANTIATE_TEST_SUITE_P(Variants, DotTest, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(DotTest, Products_OfEachSize_AreTheReferenceAndDoNotDependOnTheirPlace) {
  std::minstd_rand random;
  for (size_t rows = 1; rows <= kDotRows; ++rows) {
    for (const size_t columns : {1, 3, 4, 9}) {
      for (const size_t depth : {0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 130}) {
        const size_t stride = depth + 2;
        Guarded<float> a((rows - 1) * stride + depth);
        Guarded<float> b((columns - 1) * stride + depth);
        Guarded<float> c((rows - 1) * (columns + 1) + columns);
        for (float& each : a) each = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
        for (float& each : b) each = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
        DotProducts dots;
        dots.rows = rows;
        dots.columns = columns;
        dots.depth = depth;
        dots.a = a.data();
        dots.b = b.data();
        dots.c = c.data();
        dots.a_stride = dots.b_stride = static_cast<ptrdiff_t>(stride);
        dots.c_stride = static_cast<ptrdiff_t>(columns + 1);
        reference::dot_products(dots);
        const std::vector<float> expected(c.begin(), c.end());
        GetParam().products(dots);
        for (size_t i = 0; i < c.size(); ++i) {
          EXPECT_NEAR(c[i], expected[i], 4e-7 * static_cast<double>(depth)) << i << " of depth " << depth;
        }
        float alone = 0.0f;
        dots.a += (rows - 1) * stride;
        dots.b += (columns - 1) * stride;
        dots.c = &alone;
        dots.rows = dots.columns = 1;
        GetParam().products(dots);
        EXPECT_EQ(alone, c[c.size() - 1]);
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
