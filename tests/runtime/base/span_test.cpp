// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/span.h"

#include <numeric>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

TEST(Span, IsEmpty_WhenDefault) {
  const Span<int> span;
  EXPECT_TRUE(span.empty());
  EXPECT_EQ(span.begin(), span.end());
}

TEST(Span, CoversArray_AndConvertsToConst) {
  int numbers[] = {1, 2, 3, 4};
  const Span<int> span(numbers);
  span[2] = 30;
  const Span<const int> read_only = span;
  EXPECT_EQ(read_only.size(), 4u);
  EXPECT_EQ(std::accumulate(read_only.begin(), read_only.end(), 0), 37);
}

TEST(Span, SubspanMayBeWhole_OrEmptyAtTheEnd) {
  int numbers[] = {1, 2, 3};
  const Span<int> span(numbers);
  EXPECT_EQ(span.subspan(1, 2)[1], 3);
  EXPECT_EQ(span.subspan(0, 3).size(), 3u);
  EXPECT_TRUE(span.subspan(3, 0).empty());
}

#ifndef NDEBUG
TEST(SpanDeathTest, Aborts_PastTheEnd) {
  int numbers[] = {1};
  EXPECT_DEATH(static_cast<void>(Span<int>(numbers)[1]), "");
  EXPECT_DEATH(static_cast<void>(Span<int>(numbers).subspan(1, 1)), "");
}
#endif

}  // namespace
}  // namespace rushlight
