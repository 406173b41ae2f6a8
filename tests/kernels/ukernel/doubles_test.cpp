// SPDX-License-Identifier: BSD-3-Clause
// Loops over float64 against long double: sums within 1e-15 of the sum of magnitudes for each chain. Softmax
// within 3e-14 of the quotient, as a difference of 200 is rounded by half of that, or of the operands of the
// logarithm's difference.
#include "kernels/ukernel/doubles.h"

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/doubles.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

struct Reductions {
  const char* name;
  double (*sum)(size_t, const double*);
  double (*squares)(size_t, const double*, double);
  double (*max)(size_t, const double*);
  double (*min)(size_t, const double*);
  void (*sum_rows)(size_t, ptrdiff_t, size_t, const double*, double*);
  void (*squares_rows)(size_t, ptrdiff_t, size_t, const double*, const double*, double*);
  void (*max_rows)(size_t, ptrdiff_t, size_t, const double*, double*);
  void (*min_rows)(size_t, ptrdiff_t, size_t, const double*, double*);
};
RL_VARIANTS(Reductions, reductions, sum_span_f64, squares_span_f64, max_span_f64, min_span_f64, sum_rows_f64,
            squares_rows_f64, max_rows_f64, min_rows_f64)
std::ostream& operator<<(std::ostream& out, const Reductions& each) { return out << each.name; }

struct Maps {
  const char* name;
  void (*normalize)(size_t, const double*, double, double, const double*, const double*, double*);
  void (*softmax)(size_t, const double*, double*);
  void (*log_softmax)(size_t, const double*, double*);
  void (*softmax_rows)(size_t, ptrdiff_t, ptrdiff_t, size_t, const double*, double*);
  void (*log_softmax_rows)(size_t, ptrdiff_t, ptrdiff_t, size_t, const double*, double*);
};
RL_VARIANTS(Maps, maps, normalize_span_f64, softmax_span_f64, log_softmax_span_f64, softmax_rows_f64,
            log_softmax_rows_f64)
std::ostream& operator<<(std::ostream& out, const Maps& each) { return out << each.name; }

class DoubleReductions : public ::testing::TestWithParam<Reductions> {};
INSTANTIATE_TEST_SUITE_P(Variants, DoubleReductions, ::testing::ValuesIn(reductions()),
                         [](const auto& info) { return std::string(info.param.name); });
class DoubleMaps : public ::testing::TestWithParam<Maps> {};
INSTANTIATE_TEST_SUITE_P(Variants, DoubleMaps, ::testing::ValuesIn(maps()),
                         [](const auto& info) { return std::string(info.param.name); });

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const size_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 1000, 5003};

std::minstd_rand random_bits;
void fill(Guarded<double>& numbers) {
  for (double& each : numbers) each = static_cast<double>(random_bits() % 2000001) / 250000.0 - 4.0;
}

void expect_near(double found, long double expected, double allowed) {
  EXPECT_NEAR(found, static_cast<double>(expected), allowed);
}

TEST_P(DoubleReductions, OfSpans_AreTheReference) {
  EXPECT_EQ(GetParam().sum(0, nullptr), 0.0);
  for (const size_t n : kSizes) {
    Guarded<double> x(n);
    fill(x);
    const double allowed = 1e-15 * 16 * static_cast<double>(n);
    expect_near(GetParam().sum(n, x.data()), reference::sum_f64(n, 1, x.data()), allowed);
    expect_near(GetParam().squares(n, x.data(), 0.75), reference::squares_f64(n, 1, x.data(), 0.75), allowed);
    EXPECT_EQ(GetParam().max(n, x.data()), reference::best_f64(true, n, 1, x.data()));
    EXPECT_EQ(GetParam().min(n, x.data()), reference::best_f64(false, n, 1, x.data()));
    x[n / 2] = kNan;
    EXPECT_TRUE(std::isnan(GetParam().max(n, x.data())));
    EXPECT_TRUE(std::isnan(GetParam().min(n, x.data())));
  }
}

TEST_P(DoubleReductions, OfRows_AreTheReference) {
  for (const size_t rows : {1, 2, 63, 64, 65, 200}) {
    for (const size_t n : {1, 3, 4, 7, 8, 9, 17}) {
      const size_t stride = n + 2;
      Guarded<double> x((rows - 1) * stride + n);
      Guarded<double> means(n);
      Guarded<double> y(n);
      fill(x);
      fill(means);
      const auto step = static_cast<ptrdiff_t>(stride);
      const double allowed = 1e-15 * 16 * static_cast<double>(rows);
      GetParam().sum_rows(rows, step, n, x.data(), y.data());
      for (size_t j = 0; j < n; ++j) expect_near(y[j], reference::sum_f64(rows, step, x.data() + j), allowed);
      GetParam().squares_rows(rows, step, n, x.data(), means.data(), y.data());
      for (size_t j = 0; j < n; ++j) {
        expect_near(y[j], reference::squares_f64(rows, step, x.data() + j, means[j]), 4 * allowed);
      }
      x[(rows - 1) * stride] = kNan;
      GetParam().max_rows(rows, step, n, x.data(), y.data());
      for (size_t j = 1; j < n; ++j) EXPECT_EQ(y[j], reference::best_f64(true, rows, step, x.data() + j));
      EXPECT_TRUE(std::isnan(y[0]));
      GetParam().min_rows(rows, step, n, x.data(), y.data());
      for (size_t j = 1; j < n; ++j) EXPECT_EQ(y[j], reference::best_f64(false, rows, step, x.data() + j));
      EXPECT_TRUE(std::isnan(y[0]));
    }
  }
}

TEST_P(DoubleMaps, Normalize_WithAndWithoutParameters_IsTheFormula) {
  for (const size_t n : kSizes) {
    Guarded<double> x(n), weight(n), bias(n), y(n);
    for (auto* each : {&x, &weight, &bias}) fill(*each);
    for (const bool affine : {false, true}) {
      GetParam().normalize(n, x.data(), 0.5, 1.5, affine ? weight.data() : nullptr,
                           affine ? bias.data() : nullptr, y.data());
      for (size_t i = 0; i < n; ++i) {
        const long double value = (static_cast<long double>(x[i]) - 0.5L) * 1.5L;
        expect_near(y[i], affine ? value * weight[i] + bias[i] : value, 1e-14);
      }
    }
  }
}

TEST_P(DoubleMaps, Softmax_OfSpansAndRows_IsTheReference) {
  for (const bool logarithm : {false, true}) {
    const auto check = [&](double found, long double expected) {
      const double magnitude = std::fabs(static_cast<double>(expected));
      expect_near(found, expected, 3e-14 * (logarithm ? 16 + magnitude : magnitude));
    };
    for (const size_t n : kSizes) {
      Guarded<double> x(n), y(n);
      fill(x);
      x[n - 1] = -200;  // far below the largest
      (logarithm ? GetParam().log_softmax : GetParam().softmax)(n, x.data(), y.data());
      const auto expected = reference::softmax_f64(logarithm, n, 1, x.data());
      for (size_t i = 0; i < n; ++i) check(y[i], expected[i]);
      x[0] = kNan;
      (logarithm ? GetParam().log_softmax : GetParam().softmax)(n, x.data(), y.data());
      for (size_t i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
      x[0] = kInfinity;
      (logarithm ? GetParam().log_softmax : GetParam().softmax)(n, x.data(), y.data());
      EXPECT_TRUE(std::isnan(y[0]));
    }
    for (const size_t rows : {1, 2, 70}) {
      for (const size_t n : {1, 3, 8, 9, 20}) {
        const auto step = static_cast<ptrdiff_t>(n + 1);
        Guarded<double> x((rows - 1) * (n + 1) + n), y((rows - 1) * (n + 1) + n);
        fill(x);
        (logarithm ? GetParam().log_softmax_rows : GetParam().softmax_rows)(rows, step, step, n, x.data(),
                                                                            y.data());
        for (size_t j = 0; j < n; ++j) {
          const auto expected = reference::softmax_f64(logarithm, rows, step, x.data() + j);
          for (size_t i = 0; i < rows; ++i) check(y[i * (n + 1) + j], expected[i]);
        }
      }
    }
  }
}

// Values whose exponentials underflow give 0, and no NaN.
TEST_P(DoubleMaps, Softmax_OfMinusInfinity_IsZero) {
  for (const size_t n : {2, 9, 40}) {
    Guarded<double> x(n), y(n);
    for (double& each : x) each = -kInfinity;
    x[1] = 3;
    GetParam().softmax(n, x.data(), y.data());
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], i == 1 ? 1.0 : 0.0) << i;
  }
}

}  // namespace
}  // namespace rushlight::ukernel
