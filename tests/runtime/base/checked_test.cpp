// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/checked.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

TEST(CheckedAdd, Refuses_WhatDoesNotFit) {
  uint32_t sum = 0;
  EXPECT_TRUE(checked_add(UINT32_MAX - 1, 1u, &sum));
  EXPECT_EQ(sum, UINT32_MAX);
  EXPECT_FALSE(checked_add(UINT32_MAX, 1u, &sum));
  EXPECT_FALSE(checked_add(1u, -2, &sum));  // exact result, not the wrapped one
}

TEST(CheckedMul, Refuses_WhatDoesNotFit) {
  size_t product = 0;
  EXPECT_TRUE(checked_mul(SIZE_MAX / 2, 2, &product));
  EXPECT_FALSE(checked_mul(SIZE_MAX / 2 + 1, 2, &product));
  EXPECT_FALSE(checked_mul(-1, 2, &product));
}

TEST(Truncate, GoesTowardsZero_AndIsDefinedForEveryNumber) {
  EXPECT_EQ(truncate<int32_t>(-2.9), -2);
  EXPECT_EQ(truncate<uint8_t>(2.9f), 2);
  EXPECT_EQ(truncate<int8_t>(300.0), 44);
  EXPECT_EQ(truncate<uint64_t>(-1.0), UINT64_MAX);
  EXPECT_EQ(truncate<uint64_t>(0x1.8p63), UINT64_C(3) << 62);
  EXPECT_EQ(truncate<int64_t>(-0x1p63), INT64_MIN);
  for (const double beyond : {0x1p63, 1e300, -1e300, std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(truncate<int64_t>(beyond), INT64_MIN);
    EXPECT_EQ(truncate<int32_t>(beyond), 0);
  }
}

TEST(RangeFits, TakesTheWholeAndTheEmptyEnd_RefusesOneMore) {
  EXPECT_TRUE(range_fits(0, 10, 10));
  EXPECT_TRUE(range_fits(10, 0, 10));
  EXPECT_FALSE(range_fits(11, 0, 10));
  EXPECT_FALSE(range_fits(1, 10, 10));
  EXPECT_FALSE(range_fits(5, UINT64_MAX, 10));
  EXPECT_FALSE(range_fits(UINT64_MAX, 2, 10));
}

TEST(AlignUp, GoesToTheNextMultiple) {
  EXPECT_EQ(align_up(0, 16), 0u);
  EXPECT_EQ(align_up(1, 16), 16u);
  EXPECT_EQ(align_up(16, 16), 16u);
}

TEST(IsAligned, LooksAtTheAddress) {
  alignas(16) const char bytes[32] = {};
  EXPECT_TRUE(is_aligned(bytes, 16));
  EXPECT_FALSE(is_aligned(bytes + 8, 16));
  EXPECT_TRUE(is_aligned(bytes + 8, 8));
}

}  // namespace
}  // namespace rushlight
