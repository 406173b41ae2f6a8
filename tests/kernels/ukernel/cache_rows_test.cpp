// SPDX-License-Identifier: BSD-3-Clause
// Products with a float16 or int8 key-value cache, and rotary embeddings, against double precision. The
// tolerance grows with the largest element: 128 for int8, 4 for these float16 values.
#include "kernels/ukernel/cache_rows.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/cache_rows.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

constexpr size_t kDepths[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 33, 64, 80, 131};
constexpr size_t kCounts[] = {0, 1, 3, 4, 5, 9};

struct Functions {
  const char* name;
  decltype(&native::cache_products_half) products_half;
  decltype(&native::cache_products_i8) products_i8;
  decltype(&native::cache_sums_half) sums_half;
  decltype(&native::cache_sums_i8) sums_i8;
  decltype(&native::rotate_halves) halves;
  decltype(&native::rotate_pairs) pairs;
};
RL_VARIANTS(Functions, all, cache_products_half, cache_products_i8, cache_sums_half, cache_sums_i8,
            rotate_halves, rotate_pairs)

class CacheRowsTest : public ::testing::TestWithParam<Functions> {
 protected:
  template <class Values>
  void fill(Values& values) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& value : values) value = uniform(random_);
  }
  void fill(Guarded<int8_t>& values) {
    for (int8_t& value : values) value = static_cast<int8_t>(random_());
  }
  // Finite values, including subnormals.
  void fill(Guarded<uint16_t>& values) {
    for (uint16_t& value : values) value = static_cast<uint16_t>(random_() % 0x4400 | (random_() % 2) << 15);
  }

  // Compares `function` with its reference for `rows` rows; operands have the given sizes.
  template <class T, class Function>
  void check(Function function, Function reference, CacheRows<T> rows, size_t left_size, size_t out_size) {
    Guarded<T> cache(rows.count * rows.depth);
    Guarded<float> left((rows.rows - 1) * (left_size + 1) + left_size);
    Guarded<float> out((rows.rows - 1) * (out_size + 2) + out_size);
    fill(cache);
    fill(left);
    fill(out);
    std::vector<float> expected(out.begin(), out.end());
    rows.cache = cache.data();
    rows.left = left.data();
    rows.left_stride = static_cast<ptrdiff_t>(left_size + 1);
    rows.out = expected.data();
    rows.out_stride = static_cast<ptrdiff_t>(out_size + 2);
    reference(rows);
    rows.out = out.data();
    function(rows);
    const float size = sizeof(T) == 1 ? 128.0f : 4.0f;
    for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 1e-5f * size);
  }

  std::mt19937 random_{7};
};

TEST_P(CacheRowsTest, Products_AnyShape_AreThoseOfTheReference) {
  for (size_t rows = 1; rows <= kCacheRows; ++rows) {
    for (const size_t depth : kDepths) {
      for (const size_t count : kCounts) {
        check<uint16_t>(GetParam().products_half, &reference::cache_products_half, {rows, count, depth},
                        depth, count);
        check<int8_t>(GetParam().products_i8, &reference::cache_products_i8, {rows, count, depth}, depth,
                      count);
      }
    }
  }
}

TEST_P(CacheRowsTest, Sums_AnyShape_AreThoseOfTheReference) {
  for (size_t rows = 1; rows <= kCacheRows; ++rows) {
    for (const size_t depth : kDepths) {
      for (const size_t count : kCounts) {
        check<uint16_t>(GetParam().sums_half, &reference::cache_sums_half, {rows, count, depth}, count,
                        depth);
        check<int8_t>(GetParam().sums_i8, &reference::cache_sums_i8, {rows, count, depth}, count, depth);
      }
    }
  }
}

// Every float16, normal, subnormal, infinite or NaN, is converted exactly.
TEST_P(CacheRowsTest, Products_EveryHalf_IsItsValue) {
  constexpr size_t kAll = 0x10000;
  constexpr size_t kDepth = 16;
  std::vector<uint16_t> halves(kAll);
  for (size_t i = 0; i < kAll; ++i) halves[i] = static_cast<uint16_t>(i);
  std::vector<float> out(kAll / kDepth);
  for (size_t position = 0; position < kDepth; ++position) {
    std::vector<uint16_t> cache(kAll);
    for (size_t i = position; i < kAll; i += kDepth) cache[i] = halves[i];
    float one[kDepth] = {};
    one[position] = 1;
    GetParam().products_half({1, out.size(), kDepth, cache.data(), one, 0, out.data(), 0});
    for (size_t i = 0; i < out.size(); ++i) {
      const double expected = reference::widened(halves[i * kDepth + position]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(out[i]));
      } else {
        ASSERT_EQ(out[i], expected);
      }
    }
  }
}

TEST_P(CacheRowsTest, Products_OfTwoRows_DependOnThemAlone) {
  constexpr size_t kDepth = 83;
  Guarded<int8_t> cache(7 * kDepth);
  std::vector<float> left(4 * kDepth), out(4 * 7), single(1);
  fill(cache);
  fill(left);
  GetParam().products_i8({4, 7, kDepth, cache.data(), left.data(), kDepth, out.data(), 7});
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 7; ++j) {
      GetParam().products_i8(
          {1, 1, kDepth, cache.data() + j * kDepth, left.data() + i * kDepth, 0, single.data(), 0});
      EXPECT_EQ(single[0], out[i * 7 + j]);
    }
  }
}

TEST_P(CacheRowsTest, Rotation_AnySize_TurnsEachPair) {
  for (const size_t n : kDepths) {
    Guarded<float> row(2 * n), cos(n), sin(n);
    for (const bool is_split : {true, false}) {
      fill(row);
      fill(cos);
      fill(sin);
      std::vector<float> expected(row.begin(), row.end());
      if (is_split) {
        reference::rotate_halves(n, expected.data(), expected.data() + n, cos.data(), sin.data());
        GetParam().halves(n, row.data(), row.data() + n, cos.data(), sin.data());
      } else {
        reference::rotate_pairs(n, expected.data(), cos.data(), sin.data());
        GetParam().pairs(n, row.data(), cos.data(), sin.data());
      }
      for (size_t i = 0; i < 2 * n; ++i) EXPECT_NEAR(row[i], expected[i], 3e-7f);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, CacheRowsTest, ::testing::ValuesIn(all()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rushlight::ukernel
