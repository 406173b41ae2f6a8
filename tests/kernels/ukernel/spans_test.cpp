// SPDX-License-Identifier: BSD-3-Clause
// Span functions on signed zeros, infinities, NaN and subnormals, for every length to 39. Results are exact,
// except for subnormals on processors whose vectors flush them to zero.
#include "kernels/ukernel/spans.h"

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/spans.h"
#include "tests/kernels/ukernel/guarded.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

// Helium and Armv7's NEON flush subnormals to zero.
#if defined(__arm__)
constexpr bool kVectorsFlush = true;
#else
constexpr bool kVectorsFlush = false;
#endif

constexpr float kNumbers[] = {0.0f, -0.0f, 1.5f,   -1.5f,   INFINITY, -INFINITY,
                              NAN,  -NAN,  3e-39f, -3e-39f, 7.0f};

void expect_same(float got, float expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got));
  } else if (kVectorsFlush && std::fabs(expected) < std::numeric_limits<float>::min()) {
    EXPECT_TRUE(std::fabs(got) < std::numeric_limits<float>::min());
  } else {
    EXPECT_EQ(got, expected);
  }
}

using Function = std::function<void(float* to, const float* from, size_t count)>;

// Spans of all lengths, to other memory and in place.
void expect_span(const Function& function, const Function& reference) {
  for (size_t count = 0; count < 40; ++count) {
    for (const bool in_place : {false, true}) {
      Guarded<float> from(count), to(count);
      for (size_t i = 0; i < count; ++i) from[i] = kNumbers[(i + count) % std::size(kNumbers)];
      std::vector<float> expected(count);
      reference(expected.data(), from.data(), count);
      float* target = in_place ? from.data() : to.data();
      function(target, from.data(), count);
      for (size_t i = 0; i < count; ++i) expect_same(target[i], expected[i]);
    }
  }
}

TEST(Spans, Fill_WritesTheValue) {
  expect_span([](float* to, const float*, size_t n) { native::fill_span(to, n, 2.5f); },
              [](float* to, const float*, size_t n) { reference::fill_span(to, n, 2.5f); });
}

TEST(Spans, Copy_IsTheSame) { expect_span(native::copy_span, reference::copy_span); }

TEST(Spans, Scale_MultipliesThenAdds) {
  expect_span([](float* to, const float* x, size_t n) { native::scale_span(to, x, n, 2.0f, -1.0f); },
              [](float* to, const float* x, size_t n) { reference::scale_span(to, x, n, 2.0f, -1.0f); });
}

TEST(Spans, Rectify_KeepsNan) { expect_span(native::rectify_span, reference::rectify_span); }

TEST(Spans, Clamp_KeepsNan) {
  expect_span([](float* to, const float* x, size_t n) { native::clamp_span(to, x, n, -1.0f, 6.0f); },
              [](float* to, const float* x, size_t n) { reference::clamp_span(to, x, n, -1.0f, 6.0f); });
}

TEST(Spans, Add_IsTheSum) {
  expect_span([](float* to, const float* x, size_t n) { native::add_span(to, x, x, n); },
              [](float* to, const float* x, size_t n) { reference::add_span(to, x, x, n); });
}

// Small integers, whose sums are exact in every order.
TEST(Spans, Sums_AreExact) {
  for (size_t count = 0; count < 70; ++count) {
    Guarded<float> from(count);
    for (size_t i = 0; i < count; ++i) from[i] = static_cast<float>(i * 7 % 23) - 9;
    EXPECT_EQ(native::sum_span(from.data(), count), reference::sum_span(from.data(), count)) << count;
  }
  Guarded<float> from(9);
  from[3] = NAN;
  EXPECT_TRUE(std::isnan(native::sum_span(from.data(), 9)));
}

TEST(Spans, AddRows_AddsInOrder) {
  for (const size_t rows : {0, 1, 2, 5}) {
    for (size_t columns = 0; columns < 40; ++columns) {
      const size_t stride = columns + 3;
      Guarded<float> row(rows == 0 ? 0 : (rows - 1) * stride + columns), sums(columns);
      for (size_t i = 0; i < row.size(); ++i) row[i] = 0.1f * static_cast<float>(i % 31) - 1;
      for (size_t j = 0; j < columns; ++j) sums[j] = static_cast<float>(j);
      std::vector<float> expected(sums.begin(), sums.end());
      reference::add_rows(expected.data(), row.data(), static_cast<ptrdiff_t>(stride), rows, columns);
      native::add_rows(sums.data(), row.data(), static_cast<ptrdiff_t>(stride), rows, columns);
      for (size_t j = 0; j < columns; ++j) EXPECT_EQ(sums[j], expected[j]) << j;
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
