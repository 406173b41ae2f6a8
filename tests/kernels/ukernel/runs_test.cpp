// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/runs.h"

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/ukernel/guarded.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

// Helium's instructions and Armv7's NEON take subnormal numbers for zero.
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

using Run = std::function<void(float* to, const float* from, size_t count)>;

// Runs of all lengths, into other memory and in place.
void expect_run(const Run& run, const std::function<float(float)>& expected) {
  for (size_t count = 0; count < 40; ++count) {
    for (const bool in_place : {false, true}) {
      Guarded<float> from(count), to(count);
      for (size_t i = 0; i < count; ++i) from[i] = kNumbers[(i + count) % std::size(kNumbers)];
      std::vector<float> given(from.begin(), from.end());
      float* target = in_place ? from.data() : to.data();
      run(target, from.data(), count);
      for (size_t i = 0; i < count; ++i) expect_same(target[i], expected(given[i]));
    }
  }
}

TEST(Runs, Fill_WritesTheValue) {
  expect_run([](float* to, const float*, size_t n) { native::fill_run(to, n, 2.5f); },
             [](float) { return 2.5f; });
}

TEST(Runs, Copy_IsTheSame) {
  expect_run(native::copy_run, [](float x) { return x; });
}

TEST(Runs, Scale_MultipliesThenAdds) {
  expect_run([](float* to, const float* from, size_t n) { native::scale_run(to, from, n, 2.0f, -1.0f); },
             [](float x) { return x * 2.0f - 1.0f; });
}

TEST(Runs, Rectify_KeepsNan) {
  expect_run(native::rectify_run, [](float x) { return x < 0 ? 0.0f : x; });
}

TEST(Runs, Clamp_KeepsNan) {
  expect_run([](float* to, const float* from, size_t n) { native::clamp_run(to, from, n, -1.0f, 6.0f); },
             [](float x) { return x < -1.0f ? -1.0f : (x > 6.0f ? 6.0f : x); });
}

TEST(Runs, Add_IsTheSum) {
  expect_run([](float* to, const float* from, size_t n) { native::add_run(to, from, from, n); },
             [](float x) { return x + x; });
}

}  // namespace
}  // namespace rushlight::ukernel
