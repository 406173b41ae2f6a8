// SPDX-License-Identifier: BSD-3-Clause
// Reductions against double precision, and sums also against the exact order of additions that the contract
// promises: results must not depend on the vector width.
#include "kernels/ukernel/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/reduce.h"
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

struct Reduce {
  const char* name;
  float (*sum_span)(size_t, const float*);
  float (*squares_span)(size_t, const float*, float);
  float (*max_span)(size_t, const float*);
  float (*min_span)(size_t, const float*);
  size_t (*find_span)(size_t, const float*, float);
};
RL_VARIANTS(Reduce, run_variants, sum_span, squares_span, max_span, min_span, find_span)

struct ReduceRows {
  const char* name;
  void (*sum)(size_t, ptrdiff_t, size_t, const float*, float*);
  void (*squares)(size_t, ptrdiff_t, size_t, const float*, const float*, float*);
  void (*max)(size_t, ptrdiff_t, size_t, const float*, float*);
  void (*min)(size_t, ptrdiff_t, size_t, const float*, float*);
  void (*argmax)(size_t, ptrdiff_t, size_t, const float*, float*, int32_t*);
  void (*argmin)(size_t, ptrdiff_t, size_t, const float*, float*, int32_t*);
};
RL_VARIANTS(ReduceRows, row_variants, sum_rows, squares_rows, max_rows, min_rows, argmax_rows, argmin_rows)

template <class Functions>
std::ostream& named(std::ostream& out, const Functions& functions) {
  return out << functions.name;
}
std::ostream& operator<<(std::ostream& out, const Reduce& each) { return named(out, each); }
std::ostream& operator<<(std::ostream& out, const ReduceRows& each) { return named(out, each); }

// Rounding error of at most twelve additions in a row, then halving: a bound relative to the sum of
// magnitudes.
double allowed(double magnitude) { return 1e-6 * magnitude + 1e-30; }

class Run : public ::testing::TestWithParam<Reduce> {};
INSTANTIATE_TEST_SUITE_P(Variants, Run, ::testing::ValuesIn(run_variants()));
class Rows : public ::testing::TestWithParam<ReduceRows> {};
INSTANTIATE_TEST_SUITE_P(Variants, Rows, ::testing::ValuesIn(row_variants()));

const std::vector<size_t> kSizes = {1,  2,  3,  4,  5,   7,   8,   9,    12,   15,   16,   17,     31,    32,
                                    33, 47, 64, 65, 127, 129, 255, 2047, 2048, 2049, 4100, 131072, 139999};

TEST_P(Run, SumAndSquares_AnySize_AreTheReferences) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t n : kSizes) {
      Guarded<float> x(n, edge);
      fill(x);
      double magnitude = 0;
      for (const float each : x) magnitude += std::fabs(static_cast<double>(each));
      EXPECT_NEAR(GetParam().sum_span(n, x.data()), reference::sum(n, 1, x.data()), allowed(magnitude)) << n;
      const double squares = reference::squares(n, 1, x.data(), 0.5f);
      EXPECT_NEAR(GetParam().squares_span(n, x.data(), 0.5f), squares, allowed(squares)) << n;
    }
  }
  EXPECT_EQ(GetParam().sum_span(0, nullptr), 0.0f);
  EXPECT_EQ(GetParam().squares_span(0, nullptr, 1.0f), 0.0f);
}

TEST_P(Run, Sum_AnySizeAndPlace_IsAddedInTheOrderOfTheContract) {
#if defined(__arm__)  // the native variant has no vectors
  if (RL_HAS_FLOAT && GetParam().sum_span == native::sum_span) return;
#endif
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t n : kSizes) {
      Guarded<float> x(n, edge);
      fill(x);
      EXPECT_EQ(GetParam().sum_span(n, x.data()), reference::blocked_sum(n, x.data())) << n;
      std::fill(x.begin(), x.end(), -0.0f);
      EXPECT_FALSE(std::signbit(GetParam().sum_span(n, x.data()))) << n;
    }
  }
}

TEST_P(Run, Extremum_AnyPlace_IsFoundThere) {
  for (const size_t n : kSizes) {
    Guarded<float> x(n);
    for (const size_t position : {size_t{0}, n / 3, n - 1}) {
      fill(x);
      x[position] = 100.0f;
      EXPECT_EQ(GetParam().max_span(n, x.data()), 100.0f) << n << " " << position;
      EXPECT_EQ(GetParam().find_span(n, x.data(), 100.0f), position) << n;
      x[position] = -100.0f;
      EXPECT_EQ(GetParam().min_span(n, x.data()), -100.0f) << n << " " << position;
      x[position] = kNan;
      EXPECT_TRUE(std::isnan(GetParam().max_span(n, x.data()))) << n << " " << position;
      EXPECT_TRUE(std::isnan(GetParam().min_span(n, x.data()))) << n << " " << position;
      EXPECT_EQ(GetParam().find_span(n, x.data(), kNan), position) << n;
    }
    EXPECT_EQ(GetParam().find_span(n, x.data(), 1000.0f), n);
  }
}

TEST_P(Run, Extremum_OfInfinities_IsOne) {
  const float low[] = {-kInfinity, -kInfinity};
  EXPECT_EQ(GetParam().max_span(2, low), -kInfinity);
  const float high[] = {kInfinity, kInfinity};
  EXPECT_EQ(GetParam().min_span(2, high), kInfinity);
}

TEST_P(Rows, Sums_AnyShape_AreTheReferences) {
  for (const size_t rows : {0, 1, 2, 63, 64, 65, 130, 4097}) {
    for (const size_t n : {1, 3, 4, 7, 15, 16, 17, 33, 64, 77}) {
      const auto stride = static_cast<ptrdiff_t>(n + 2);
      Guarded<float> x(rows == 0 ? 0 : (rows - 1) * (n + 2) + n);
      fill(x);
      Guarded<float> mean(n);
      fill(mean);
      Guarded<float> y(n);
      GetParam().sum(rows, stride, n, x.data(), y.data());
      for (size_t j = 0; j < n; ++j) {
        const double magnitude = 4.0 * static_cast<double>(rows);
        EXPECT_NEAR(y[j], reference::sum(rows, stride, x.data() + j), allowed(magnitude)) << rows << " " << n;
      }
      GetParam().squares(rows, stride, n, x.data(), mean.data(), y.data());
      for (size_t j = 0; j < n; ++j) {
        const double squares = reference::squares(rows, stride, x.data() + j, mean[j]);
        EXPECT_NEAR(y[j], squares, allowed(squares)) << rows << " " << n;
      }
    }
  }
}

TEST_P(Rows, Extrema_WithEqualsAndNan_AreTheReferences) {
  for (const size_t rows : {1, 2, 5, 40}) {
    for (const size_t n : {1, 3, 4, 7, 16, 17, 33, 70}) {
      const auto stride = static_cast<ptrdiff_t>(n + 1);
      Guarded<float> x((rows - 1) * (n + 1) + n);
      for (float& each : x) {
        const auto bits = random_bits() % 30;
        each = bits == 0 ? kNan : bits == 1 ? -kInfinity : static_cast<float>(bits % 7);
      }
      Guarded<float> y(n);
      Guarded<float> z(n);
      Guarded<int32_t> index(n);
      for (const bool largest : {false, true}) {
        (largest ? GetParam().max : GetParam().min)(rows, stride, n, x.data(), y.data());
        (largest ? GetParam().argmax : GetParam().argmin)(rows, stride, n, x.data(), z.data(), index.data());
        for (size_t j = 0; j < n; ++j) {
          const size_t row = reference::best(largest, rows, stride, x.data() + j);
          const float expected = *reference::element(x.data(), row, stride, j);
          EXPECT_TRUE(y[j] == expected || (std::isnan(y[j]) && std::isnan(expected))) << rows << " " << n;
          EXPECT_TRUE(z[j] == expected || (std::isnan(z[j]) && std::isnan(expected))) << rows << " " << n;
          EXPECT_EQ(index[j], static_cast<int32_t>(row)) << rows << " " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
