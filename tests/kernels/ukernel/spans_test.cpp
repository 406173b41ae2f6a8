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

}  // namespace
}  // namespace rushlight::ukernel
