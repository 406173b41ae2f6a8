// SPDX-License-Identifier: BSD-3-Clause
// Softmax and log softmax against double precision, over a span and over rows at a stride. Relative tolerance
// for softmax; for the logarithm, relative to the operands of its difference.
#include "kernels/ukernel/softmax.h"

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/softmax.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::minstd_rand random_bits;
template <class Floats>
void fill(Floats& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 250.0f - 4.0f;
}

struct Softmax {
  const char* name;
  void (*run)(size_t, const float*, float*);
  void (*log_run)(size_t, const float*, float*);
  void (*rows)(size_t, ptrdiff_t, ptrdiff_t, size_t, const float*, float*);
  void (*log_rows)(size_t, ptrdiff_t, ptrdiff_t, size_t, const float*, float*);
};
RL_VARIANTS(Softmax, variants, softmax_span, log_softmax_span, softmax_rows, log_softmax_rows)
std::ostream& operator<<(std::ostream& out, const Softmax& softmax) { return out << softmax.name; }

class SoftmaxVariant : public ::testing::TestWithParam<Softmax> {};
INSTANTIATE_TEST_SUITE_P(Variants, SoftmaxVariant, ::testing::ValuesIn(variants()));

// Relative to the quotient, or to the operands of the difference for a logarithm.
double allowed(bool logarithm, double expected) {
  return logarithm ? 2e-7 * (16 + std::fabs(expected)) : 1e-6 * std::fabs(expected);
}

TEST_P(SoftmaxVariant, Run_AnySize_IsTheReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 100, 128, 1000, 5003}) {
      Guarded<float> x(n, edge);
      Guarded<float> y(n, edge);
      std::vector<double> expected(n);
      fill(x);
      for (const bool logarithm : {false, true}) {
        (logarithm ? GetParam().log_run : GetParam().run)(n, x.data(), y.data());
        reference::softmax(logarithm, n, 1, x.data(), expected.data());
        for (size_t i = 0; i < n; ++i) {
          EXPECT_NEAR(y[i], expected[i], allowed(logarithm, expected[i])) << n << " " << i;
        }
      }
    }
  }
}

TEST_P(SoftmaxVariant, Run_InPlace_IsTheSame) {
  std::vector<float> x(37);
  fill(x);
  std::vector<float> y(x.size());
  GetParam().run(x.size(), x.data(), y.data());
  GetParam().run(x.size(), x.data(), x.data());
  EXPECT_EQ(x, y);
}

TEST_P(SoftmaxVariant, Rows_AnyShape_AreTheReference) {
  for (const size_t rows : {1, 2, 5, 66}) {
    for (const size_t n : {1, 3, 4, 7, 16, 17, 33, 64, 77}) {
      const auto x_stride = static_cast<ptrdiff_t>(n + 3);
      const auto y_stride = static_cast<ptrdiff_t>(n + 1);
      Guarded<float> x((rows - 1) * (n + 3) + n);
      Guarded<float> y((rows - 1) * (n + 1) + n);
      std::vector<double> expected(rows);
      fill(x);
      for (const bool logarithm : {false, true}) {
        (logarithm ? GetParam().log_rows : GetParam().rows)(rows, x_stride, y_stride, n, x.data(), y.data());
        for (size_t j = 0; j < n; ++j) {
          reference::softmax(logarithm, rows, x_stride, x.data() + j, expected.data());
          for (size_t i = 0; i < rows; ++i) {
            const float got = y[i * (n + 1) + j];
            EXPECT_NEAR(got, expected[i], allowed(logarithm, expected[i])) << rows << " " << n;
          }
        }
      }
    }
  }
}

TEST_P(SoftmaxVariant, Run_OfInfinitiesAndNan_IsTheDefinition) {
  for (const size_t n : {3, 5, 20, 40}) {
    std::vector<float> x(n, -kInfinity);
    std::vector<float> y(n);
    const auto expect_all_nan = [&](const char* what) {
      GetParam().run(n, x.data(), y.data());
      for (const float each : y) EXPECT_TRUE(std::isnan(each)) << what << " " << n;
    };
    expect_all_nan("nothing but -inf");
    x[n / 2] = 3.0f;
    GetParam().run(n, x.data(), y.data());
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], i == n / 2 ? 1.0f : 0.0f);
    GetParam().log_run(n, x.data(), y.data());
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], i == n / 2 ? 0.0f : -kInfinity);
    for (const float odd : {kNan, kInfinity}) {
      for (const size_t position : {size_t{0}, n - 1}) {
        fill(x);
        x[position] = odd;
        expect_all_nan("an odd one");
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
