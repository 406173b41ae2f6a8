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
  void (*products_f64)(const DotProductsF64&);
};
RL_VARIANTS(Dot, variants, dot_products, dot_products_f64)

template <class T, class Products, class Reference>
void compare(Products products, Reference reference, double allowed) {
  std::minstd_rand random;
  for (size_t rows = 1; rows <= kDotRows; ++rows) {
    for (const size_t columns : {1, 3, 4, 9}) {
      for (const size_t depth : {0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 130}) {
        const size_t stride = depth + 2;
        Guarded<T> a((rows - 1) * stride + depth);
        Guarded<T> b((columns - 1) * stride + depth);
        Guarded<T> c((rows - 1) * (columns + 1) + columns);
        for (T& each : a) each = static_cast<T>(random() % 2001) / T(1000) - T(1);
        for (T& each : b) each = static_cast<T>(random() % 2001) / T(1000) - T(1);
        DotProductsOf<T> dots;
        dots.rows = rows;
        dots.columns = columns;
        dots.depth = depth;
        dots.a = a.data();
        dots.b = b.data();
        dots.c = c.data();
        dots.a_stride = dots.b_stride = static_cast<ptrdiff_t>(stride);
        dots.c_stride = static_cast<ptrdiff_t>(columns + 1);
        reference(dots);
        const std::vector<T> expected(c.begin(), c.end());
        products(dots);
        for (size_t i = 0; i < c.size(); ++i) {
          EXPECT_NEAR(c[i], expected[i], allowed * static_cast<double>(depth)) << i << " of depth " << depth;
        }
        T alone = 0;
        dots.a += (rows - 1) * stride;
        dots.b += (columns - 1) * stride;
        dots.c = &alone;
        dots.rows = dots.columns = 1;
        products(dots);
        EXPECT_EQ(alone, c[c.size() - 1]);
      }
    }
  }
}

class DotTest : public ::testing::TestWithParam<Dot> {};
INSTANTIATE_TEST_SUITE_P(Variants, DotTest, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(DotTest, Products_OfEachSize_AreTheReferenceAndDoNotDependOnTheirPlace) {
  compare<float>(GetParam().products, reference::dot_products, 4e-7);
}

TEST_P(DotTest, ProductsOfDoubles_OfEachSize_AreTheReferenceAndDoNotDependOnTheirPlace) {
  compare<double>(GetParam().products_f64, reference::dot_products_f64, 1e-15);
}

}  // namespace
}  // namespace rushlight::ukernel
