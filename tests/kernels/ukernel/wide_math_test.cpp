// SPDX-License-Identifier: BSD-3-Clause
// Compares functions of float64 with long double: at special values, at random values near 0, and at random
// bit patterns.
#include "kernels/ukernel/wide_math.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/wide_math.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

using Wide = void (*)(size_t, const double*, double*);
using Narrow = void (*)(size_t, const float*, float*);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSpecial[] = {0.0,    -0.0,    kInfinity, -kInfinity, std::nan(""), 1.0,     -1.0,
                               1e-310, -1e-310, 709.78,    709.79,     -745.13,      -745.14, 1e308,
                               2.0,    0.5,     -0.5,      1024.0,     -1074.0,      1e-20,   -2.0};

// In units of the last place of T; infinite if only one is NaN or infinite, or a zero has the wrong sign.
template <class T>
double error_of(T got, long double expected) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected) ? 0 : HUGE_VAL;
  const auto rounded = static_cast<T>(expected);
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : HUGE_VAL;
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : HUGE_VAL;
  using Limits = std::numeric_limits<T>;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  exponent = exponent < Limits::min_exponent ? Limits::min_exponent : exponent;
  const long double distance = std::fabs(static_cast<long double>(got) - expected);
  return static_cast<double>(distance / std::ldexp(1.0L, exponent - Limits::digits));
}

// Numbers of magnitude up to `limit`, and the special ones among them.
template <class T>
std::vector<T> numbers(double limit) {
  std::mt19937_64 random(7);
  std::vector<T> found;
  for (const double each : kSpecial) {
    if (std::isnan(each) || std::fabs(each) <= limit) found.push_back(static_cast<T>(each));
  }
  std::uniform_real_distribution<double> near(-3, 3);
  std::uniform_real_distribution<double> far(-50, 50);
  for (int i = 0; i < 20000; ++i) {
    found.push_back(static_cast<T>(near(random)));
    found.push_back(static_cast<T>(far(random)));
    double pattern = 0;
    const uint64_t bits = random();
    std::memcpy(&pattern, &bits, sizeof pattern);
    if (!(std::fabs(pattern) > limit)) found.push_back(static_cast<T>(pattern));
  }
  return found;
}

template <class T, class Reference>
void expect_within(const char* name, void (*function)(size_t, const T*, T*), Reference reference,
                   double units, double limit) {
  const std::vector<T> x = numbers<T>(limit);
  std::vector<T> out(x.size());
  function(x.size(), x.data(), out.data());
  double worst = 0;
  T worst_at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = error_of(out[i], reference(static_cast<long double>(x[i])));
    if (error > worst) {
      worst = error;
      worst_at = x[i];
    }
  }
  EXPECT_LE(worst, units) << name << " of " << worst_at;
}

class WideMath : public ::testing::TestWithParam<size_t> {};

#define RL_CHECK_REFERENCE(name, reference, units, limit) \
  expect_within<double>(#name, RL_EXACT_FUNCTIONS(name##_f64)[GetParam()], reference, units, limit)
#define RL_CHECK(name, units) \
  RL_CHECK_REFERENCE(name, [](long double x) { return std::name(x); }, units, kInfinity)
// Float results are a double's, rounded.
#define RL_CHECK_NARROW(name, limit)                                                                        \
  expect_within<float>(                                                                                     \
      #name "_f32", RL_EXACT_FUNCTIONS(name##_f32)[GetParam()], [](long double x) { return std::name(x); }, \
      0.51, limit)

TEST_P(WideMath, ExponentialsAndLogarithms_AllNumbers_AreWithinPromise) {
  RL_CHECK(exp, 1.5);
  RL_CHECK(exp2, 1.5);
  RL_CHECK(expm1, 2);
  RL_CHECK(log, 1.5);
  RL_CHECK(log1p, 1.5);
  RL_CHECK(log2, 3);
  RL_CHECK(log10, 3);
  RL_CHECK_REFERENCE(sigmoid, reference::wide_sigmoid, 3, kInfinity);
  RL_CHECK_REFERENCE(silu, reference::wide_silu, 3, 700);
  RL_CHECK_REFERENCE(log_sigmoid, reference::wide_log_sigmoid, 3, kInfinity);
}

TEST_P(WideMath, TrigonometricFunctions_AnglesUpToTheLimit_AreWithinPromise) {
  RL_CHECK_REFERENCE(sin, [](long double x) { return std::sin(x); }, 1.5, kLargestAngle);
  RL_CHECK_REFERENCE(cos, [](long double x) { return std::cos(x); }, 1.5, kLargestAngle);
  RL_CHECK_REFERENCE(tan, [](long double x) { return std::tan(x); }, 4, kLargestAngle);
  RL_CHECK(asin, 2.5);
  RL_CHECK(acos, 2.5);
  RL_CHECK(atan, 3);
}

TEST_P(WideMath, HyperbolicFunctions_AllNumbers_AreWithinPromise) {
  RL_CHECK(sinh, 4);
  RL_CHECK(cosh, 4);
  RL_CHECK(tanh, 4);
  RL_CHECK(asinh, 4);
  RL_CHECK(acosh, 4);
  RL_CHECK(atanh, 4);
}

TEST_P(WideMath, ErrorFunctions_AllNumbers_AreWithinPromise) {
  RL_CHECK(erf, 1.6);
  RL_CHECK(erfc, 2);
  RL_CHECK_REFERENCE(erfinv, reference::wide_erfinv, 8, kInfinity);
  RL_CHECK_REFERENCE(erfinv, reference::wide_erfinv, 8, 1);
}

TEST_P(WideMath, ScaledErrorFunction_AllNumbers_IsWithinPromise) {
  const Wide function = RL_EXACT_FUNCTIONS(erfcx_f64)[GetParam()];
  const Narrow narrow = RL_EXACT_FUNCTIONS(erfcx_f32)[GetParam()];
  std::vector<double> x = numbers<double>(kInfinity);
  for (double each : {-26.62, -26.64, -0.5, 0.46, 49.9}) x.push_back(each);
  std::vector<double> out(x.size());
  std::vector<float> floats(x.begin(), x.end());
  std::vector<float> results(x.size());
  function(x.size(), x.data(), out.data());
  narrow(x.size(), floats.data(), results.data());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(error_of(out[i], reference::wide_erfcx(x[i])), 4) << x[i];
    EXPECT_LE(error_of(results[i], reference::wide_erfcx(floats[i])), 0.51) << floats[i];
  }
}

TEST_P(WideMath, LogarithmOfGamma_AllNumbers_IsWithinPromise) {
  const Wide function = RL_EXACT_FUNCTIONS(lgamma_f64)[GetParam()];
  const Narrow narrow = RL_EXACT_FUNCTIONS(lgamma_f32)[GetParam()];
  const auto sum = RL_EXACT_FUNCTIONS(sum_lgamma_f64)[GetParam()];
  std::vector<double> x = numbers<double>(kInfinity);
  for (double each : {0.4999, 0.5, 1.4999, 1.5, 2.5, 3.0, 8.4999, 8.5, -3.0, -1e-320, 1e-320, 1e16, -1e16})
    x.push_back(each);
  std::vector<double> out(x.size());
  std::vector<float> floats(x.begin(), x.end());
  std::vector<float> results(x.size());
  function(x.size(), x.data(), out.data());
  narrow(x.size(), floats.data(), results.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const long double expected = std::lgamma(static_cast<long double>(x[i]));
    if (!(x[i] < 0 && std::fabs(out[i] - expected) < 0x1p-48)) {
      // Beyond double's range long double's result is finite.
      EXPECT_LE(error_of(out[i], expected), 6) << x[i];
    }
    const long double of_float = std::lgamma(static_cast<long double>(floats[i]));
    if (!(floats[i] < 0 && std::fabs(results[i] - of_float) < 0x1p-48))
      EXPECT_LE(error_of(results[i], of_float), 0.51) << floats[i];
  }
  sum(x.size(), x.data(), 2, 0.25, out.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 1)) continue;
    const long double at = x[i];
    const long double expected = 0.25L + std::lgamma(at) + std::lgamma(at - 0.5L);
    EXPECT_TRUE(std::fabs(out[i] - expected) < 1e-15L || error_of(out[i], expected) <= 6) << x[i];
  }
}

TEST_P(WideMath, Activations_AllNumbers_AreWithinPromise) {
  RL_CHECK_REFERENCE(mish, reference::wide_mish, 4.5, 700);
  const auto check = [](Wide function, auto reference) {
    const std::vector<double> x = numbers<double>(1e100);
    std::vector<double> out(x.size());
    function(x.size(), x.data(), out.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const long double expected = reference(static_cast<long double>(x[i]));
      if (x[i] < -1) {
        EXPECT_LE(std::fabs(out[i] - expected), 0x1p-52 * -x[i]) << x[i];
      } else {
        EXPECT_LE(error_of(out[i], expected), 4.5) << x[i];
      }
    }
  };
  check(RL_EXACT_FUNCTIONS(gelu_f64)[GetParam()], reference::wide_gelu);
  check(RL_EXACT_FUNCTIONS(gelu_tanh_f64)[GetParam()], reference::wide_gelu_tanh);
  const double x[] = {-kInfinity, -50, 50, kInfinity, std::nan("")};
  for (const Wide function :
       {RL_EXACT_FUNCTIONS(gelu_f64)[GetParam()], RL_EXACT_FUNCTIONS(gelu_tanh_f64)[GetParam()]}) {
    double out[5];
    function(5, x, out);
    EXPECT_TRUE(out[0] == 0 && std::signbit(out[0]) && out[1] == 0 && std::signbit(out[1]));
    EXPECT_TRUE(out[2] == 50 && out[3] == kInfinity && std::isnan(out[4]));
  }
}

TEST_P(WideMath, FunctionsWithParameters_AllNumbers_AreWithinPromise) {
  std::vector<double> x = numbers<double>(kInfinity);
  std::vector<double> out(x.size());
  RL_EXACT_FUNCTIONS(elu_f64)[GetParam()](x.size(), x.data(), 1.5, 0.5, 2, out.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const long double at = x[i];
    EXPECT_LE(error_of(out[i], at > 0 ? at * 1.5L : std::expm1(at * 2) * 0.5L), 3) << x[i];
  }
  // The quotient's rounding error counts as much as its logarithm is small: not from 1/4 to 3/4.
  const auto bounded = RL_EXACT_FUNCTIONS(logit_f64)[GetParam()];
  bounded(x.size(), x.data(), 1e-6, 1 - 1e-6, out.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 0.25 && x[i] < 0.75) continue;
    const long double at = x[i] < 1e-6 ? 1e-6 : (x[i] > 1 - 1e-6 ? 1 - 1e-6 : x[i]);
    EXPECT_LE(error_of(out[i], std::log(at / (1 - at))), 4) << x[i];
  }
  bounded(x.size(), x.data(), -kInfinity, kInfinity, out.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) EXPECT_EQ(out[i], -kInfinity);
    if (x[i] == 1) EXPECT_EQ(out[i], kInfinity);
    if (!(x[i] >= 0 && x[i] <= 1)) EXPECT_TRUE(std::isnan(out[i])) << x[i];
  }
}

TEST_P(WideMath, SumsOfExponentials_AllPairs_AreWithinPromise) {
  const auto sum = RL_EXACT_FUNCTIONS(log_add_f64)[GetParam()];
  const auto sum2 = RL_EXACT_FUNCTIONS(log2_add_f64)[GetParam()];
  const std::vector<double> all = numbers<double>(kInfinity);
  std::vector<double> out(all.size());
  std::vector<double> out2(all.size());
  for (size_t k = 0; k <= std::size(kSpecial); ++k) {
    const bool last = k == std::size(kSpecial);
    const double* b = last ? all.data() + 1 : &kSpecial[k];
    const size_t n = all.size() - 1;
    sum(n, all.data(), 1, b, last ? 1 : 0, out.data());
    sum2(n, all.data(), 1, b, last ? 1 : 0, out2.data());
    for (size_t i = 0; i < n; ++i) {
      const double at = last ? b[i] : *b;
      const long double expected = reference::wide_log_add(all[i], at, false);
      const long double expected2 = reference::wide_log_add(all[i], at, true);
      // Near a result of 0 the error is that of the larger operand.
      const auto close = [](double got, long double wanted) {
        return std::fabs(static_cast<long double>(got) - wanted) < 1e-15L || error_of(got, wanted) <= 2;
      };
      EXPECT_TRUE(close(out[i], expected)) << all[i] << ", " << at;
      EXPECT_TRUE(close(out2[i], expected2)) << all[i] << ", " << at;
    }
  }
}

TEST_P(WideMath, ExactFunctions_AllNumbers_AreRoundedOnce) {
  RL_CHECK(sqrt, 0.51);
  RL_CHECK(floor, 0);
  RL_CHECK(ceil, 0);
  RL_CHECK(trunc, 0);
  RL_CHECK_REFERENCE(round, [](long double x) { return std::nearbyint(x); }, 0, kInfinity);
  RL_CHECK_REFERENCE(abs, [](long double x) { return std::fabs(x); }, 0, kInfinity);
  RL_CHECK_REFERENCE(neg, reference::wide_negative, 0, kInfinity);
  RL_CHECK_REFERENCE(rsqrt, reference::wide_rsqrt, 1.5, kInfinity);
  RL_CHECK_REFERENCE(reciprocal, reference::wide_reciprocal, 0.51, kInfinity);
  RL_CHECK_REFERENCE(square, reference::wide_square, 0.51, kInfinity);
}

TEST_P(WideMath, FloatResults_AllNumbers_AreDoublesRounded) {
  RL_CHECK_NARROW(sinh, kInfinity);
  RL_CHECK_NARROW(cosh, kInfinity);
  RL_CHECK_NARROW(asinh, kInfinity);
  RL_CHECK_NARROW(acosh, kInfinity);
  RL_CHECK_NARROW(atanh, kInfinity);
}

TEST_P(WideMath, Atan2_AllPoints_IsWithinPromise) {
  const auto function = RL_EXACT_FUNCTIONS(atan2_f64)[GetParam()];
  const auto narrow = RL_EXACT_FUNCTIONS(atan2_f32)[GetParam()];
  const std::vector<double> all = numbers<double>(kInfinity);
  std::vector<double> out(all.size());
  std::vector<float> floats(all.begin(), all.end());
  std::vector<float> angles(all.size());
  // The special numbers against all others, and numbers against their neighbours.
  for (size_t k = 0; k <= std::size(kSpecial); ++k) {
    const bool last = k == std::size(kSpecial);
    const double* x = last ? all.data() + 1 : &kSpecial[k];
    const size_t n = all.size() - 1;
    function(n, all.data(), 1, x, last ? 1 : 0, out.data());
    const auto near = static_cast<float>(*x);
    narrow(n, floats.data(), 1, last ? floats.data() + 1 : &near, last ? 1 : 0, angles.data());
    for (size_t i = 0; i < n; ++i) {
      const double at = last ? x[i] : *x;
      EXPECT_LE(error_of(out[i], std::atan2(static_cast<long double>(all[i]), static_cast<long double>(at))),
                4)
          << all[i] << ", " << at;
      const long double of_floats =
          std::atan2(static_cast<long double>(floats[i]), static_cast<long double>(static_cast<float>(at)));
      EXPECT_LE(error_of(angles[i], of_floats), 0.51) << floats[i] << ", " << at;
    }
  }
}

TEST_P(WideMath, AnyCount_IsComputedWithinItsArrays) {
  const Wide function = RL_EXACT_FUNCTIONS(sin_f64)[GetParam()];
  const Narrow narrow = RL_EXACT_FUNCTIONS(asinh_f32)[GetParam()];
  for (size_t n = 0; n <= 40; ++n) {
    for (const Edge edge : {Edge::kFront, Edge::kBack}) {
      Guarded<double> x(n, edge);
      Guarded<double> out(n, edge);
      Guarded<float> small(n, edge);
      for (size_t i = 0; i < n; ++i) x[i] = small[i] = static_cast<float>(i);
      function(n, x.data(), out.data());
      narrow(n, small.data(), small.data());
      for (size_t i = 0; i < n; ++i) {
        double alone = 0;
        function(1, &x[i], &alone);
        EXPECT_EQ(out[i], alone) << i << " of " << n;
        EXPECT_NEAR(small[i], std::asinh(static_cast<double>(i)), 1e-6);
      }
      function(n, x.data(), x.data());
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], out[i]);
    }
  }
}

struct Named {
  const char* name;
  Wide first;
};
RL_EXACT_VARIANTS(Named, variants, exp_f64)
std::string name_of(const ::testing::TestParamInfo<size_t>& info) { return variants()[info.param].name; }
INSTANTIATE_TEST_SUITE_P(Variants, WideMath, ::testing::Range(size_t{0}, variants().size()), name_of);

}  // namespace
}  // namespace rushlight::ukernel
