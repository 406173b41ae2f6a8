// SPDX-License-Identifier: BSD-3-Clause
// Compares vector functions with double precision over values spread evenly over all float32 bit patterns, or
// over every pattern with RUSHLIGHT_EVERY_FLOAT=1 in the environment (half an hour a variant).
#include "kernels/ukernel/vector_math.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/vector_math.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

// The step from one bit pattern to the next; emulated machines use larger steps.
#ifndef RUSHLIGHT_FLOAT_STEP
#define RUSHLIGHT_FLOAT_STEP 20011
#endif

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

using Function = void (*)(size_t, const float*, float*);
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The error bound of a function: `units` in the last place, or a distance of `absolute` + `share` |x|.
struct Promise {
  double units;
  double absolute = 0;
  double share = 0;
};

// In units of the last place of `expected`; infinite if only one is NaN or infinite, or a zero has the wrong
// sign.
double error_of(float got, double expected) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : HUGE_VAL;
  const auto rounded = static_cast<float>(expected);
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : HUGE_VAL;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    const bool at_the_end = std::isinf(rounded) && std::fabs(got) == std::numeric_limits<float>::max();
    return at_the_end ? 1 : HUGE_VAL;
  }
  int exponent = 0;
  std::frexp(expected, &exponent);
  return std::fabs(got - expected) / std::ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}

// Calls `function` with spans of values and compares each result with `reference`.
template <class Reference>
void expect_within(const char* name, Function function, Reference reference, const Promise& promise) {
  constexpr size_t kSpan = 251;  // a multiple of no vector's width
  const uint64_t step = std::getenv("RUSHLIGHT_EVERY_FLOAT") != nullptr ? 1 : RUSHLIGHT_FLOAT_STEP;
  double worst = 0;
  float worst_at = 0;
  float x[kSpan];
  float out[kSpan];
  for (uint64_t next = 0; next < (uint64_t{1} << 32);) {
    for (float& each : x) {
      const auto pattern = static_cast<uint32_t>(next);
      std::memcpy(&each, &pattern, sizeof(each));
      next += step;
    }
    function(kSpan, x, out);
    for (size_t i = 0; i < kSpan; ++i) {
      const double expected = reference(static_cast<double>(x[i]));
      const double error = error_of(out[i], expected);
      const double distance = std::fabs(out[i] - expected);
      if (error > worst && !(distance <= promise.absolute + promise.share * std::fabs(x[i]))) {
        worst = error;
        worst_at = x[i];
      }
    }
  }
  EXPECT_LE(worst, promise.units) << name << " of " << worst_at;
  if (std::getenv("RUSHLIGHT_EVERY_FLOAT") != nullptr) std::printf("%s: %.3f\n", name, worst);
}

// A function of the variant with this index, with its parameters bound.
#define RL_BOUND(variant, name, arguments) \
  +[](size_t n, const float* x, float* out) { variant::name arguments; }
#define RL_AND_BOUND(variant, Name, name, arguments) \
  , { RL_RUNS(Name), RL_BOUND(variant, name, arguments) }
#define RL_OF_VARIANT(number, name, arguments) \
  (rushlight::testing::running<Function>(      \
      {{true, RL_BOUND(native, name, arguments)} RL_FOR_EXACT(RL_AND_BOUND, name, arguments)})[number])

class VectorMath : public ::testing::TestWithParam<size_t> {};
#define RL_CHECK_FUNCTION(name, reference, ...) \
  expect_within(#name, RL_OF_VARIANT(GetParam(), name, (n, x, out)), reference, Promise{__VA_ARGS__})

TEST_P(VectorMath, Exponentials_AllNumbers_AreWithinPromise) {
  RL_CHECK_FUNCTION(exp_f32, [](double x) { return std::exp(x); }, 1.1);
  RL_CHECK_FUNCTION(exp2_f32, [](double x) { return std::exp2(x); }, 1.5);
  RL_CHECK_FUNCTION(expm1_f32, [](double x) { return std::expm1(x); }, 1.7);
  RL_CHECK_FUNCTION(log_f32, [](double x) { return std::log(x); }, 1);
  RL_CHECK_FUNCTION(log2_f32, [](double x) { return std::log2(x); }, 2);
  RL_CHECK_FUNCTION(log10_f32, [](double x) { return std::log10(x); }, 2);
  RL_CHECK_FUNCTION(log1p_f32, [](double x) { return std::log1p(x); }, 1.5);
  RL_CHECK_FUNCTION(sigmoid_f32, reference::sigmoid, 3.1, 0x1p-127);
  RL_CHECK_FUNCTION(log_sigmoid_f32, reference::log_sigmoid, 2.5);
  RL_CHECK_FUNCTION(tanh_f32, [](double x) { return std::tanh(x); }, 2.4);
  RL_CHECK_FUNCTION(erf_f32, [](double x) { return std::erf(x); }, 1.1);
  RL_CHECK_FUNCTION(erfc_f32, [](double x) { return std::erfc(x); }, 4);
  RL_CHECK_FUNCTION(erfinv_f32, reference::erfinv, 4);
}

TEST_P(VectorMath, Gates_AllNumbers_AreWithinPromise) {
  RL_CHECK_FUNCTION(silu_f32, reference::silu, 4, 0x1p-120);
  RL_CHECK_FUNCTION(mish_f32, reference::mish, 4.6, 0x1p-142);
  RL_CHECK_FUNCTION(gelu_f32, reference::gelu, 3, 0, 0x1.cp-23);
  RL_CHECK_FUNCTION(gelu_tanh_f32, reference::gelu_tanh, 4.5, 0, 0x1p-23);
  RL_CHECK_FUNCTION(hardsigmoid_f32, reference::hardsigmoid, 2.5, 0x1p-24);
  RL_CHECK_FUNCTION(hardswish_f32, reference::hardswish, 2.5, 0, 0x1p-24);
}

// Beyond the bounds of their approximations, functions have their limits exactly.
TEST_P(VectorMath, Gates_FarFromZero_AreTheirLimits) {
  const float x[] = {-kInfinity, -1e30f, -1000, 1000, 1e30f, kInfinity};
  constexpr size_t kCount = sizeof(x) / sizeof(*x);
  float out[kCount];
  const auto expect = [&](const char* name, Function function, float below, bool grows) {
    function(kCount, x, out);
    for (size_t i = 0; i < kCount; ++i) {
      const float limit = x[i] < 0 ? below : (grows ? x[i] : 1.0f);
      EXPECT_EQ(out[i], limit) << name << " of " << x[i];
      EXPECT_EQ(std::signbit(out[i]), std::signbit(limit)) << name << " of " << x[i];
    }
  };
  expect("tanh", RL_OF_VARIANT(GetParam(), tanh_f32, (n, x, out)), -1, false);
  expect("erf", RL_OF_VARIANT(GetParam(), erf_f32, (n, x, out)), -1, false);
  expect("sigmoid", RL_OF_VARIANT(GetParam(), sigmoid_f32, (n, x, out)), 0, false);
  expect("gelu", RL_OF_VARIANT(GetParam(), gelu_f32, (n, x, out)), -0.0f, true);
  expect("gelu_tanh", RL_OF_VARIANT(GetParam(), gelu_tanh_f32, (n, x, out)), -0.0f, true);
}

// 1 is the least upper bound of tanh, which atanh(tanh(x)) relies on.
TEST_P(VectorMath, Tanh_NearItsLimit_IsOddAndAtMostOne) {
  const Function function = RL_OF_VARIANT(GetParam(), tanh_f32, (n, x, out));
  for (float x = 4; x < 10; x += 0x1p-10f) {
    const float both[] = {x, -x};
    float out[2];
    function(2, both, out);
    EXPECT_LE(out[0], 1) << x;
    EXPECT_EQ(out[0], -out[1]) << x;
  }
}

TEST_P(VectorMath, TrigonometricFunctions_AllNumbers_AreWithinPromise) {
  RL_CHECK_FUNCTION(sin_f32, [](double x) { return std::sin(x); }, 1.6);
  RL_CHECK_FUNCTION(cos_f32, [](double x) { return std::cos(x); }, 1.6);
  RL_CHECK_FUNCTION(tan_f32, [](double x) { return std::tan(x); }, 3.6);
  RL_CHECK_FUNCTION(asin_f32, [](double x) { return std::asin(x); }, 2.6);
  RL_CHECK_FUNCTION(acos_f32, [](double x) { return std::acos(x); }, 1.5);
  RL_CHECK_FUNCTION(atan_f32, [](double x) { return std::atan(x); }, 2);
}

TEST_P(VectorMath, ExactFunctions_AllNumbers_AreRoundedOnce) {
  RL_CHECK_FUNCTION(sqrt_f32, [](double x) { return std::sqrt(x); }, 0.5);
  RL_CHECK_FUNCTION(rsqrt_f32, reference::rsqrt, 1.5);
  RL_CHECK_FUNCTION(cube_f32, [](double x) { return x * x * x; }, 1.5, 0x1p-126);
  RL_CHECK_FUNCTION(reciprocal_f32, reference::reciprocal, 0.5);
  RL_CHECK_FUNCTION(square_f32, reference::square, 0.5);
  RL_CHECK_FUNCTION(abs_f32, [](double x) { return std::fabs(x); }, 0);
  RL_CHECK_FUNCTION(neg_f32, reference::negative, 0);
  RL_CHECK_FUNCTION(relu_f32, reference::relu, 0);
  RL_CHECK_FUNCTION(floor_f32, [](double x) { return std::floor(x); }, 0);
  RL_CHECK_FUNCTION(ceil_f32, [](double x) { return std::ceil(x); }, 0);
  RL_CHECK_FUNCTION(trunc_f32, [](double x) { return std::trunc(x); }, 0);
  RL_CHECK_FUNCTION(round_f32, [](double x) { return std::nearbyint(x); }, 0);
}

// Parameters are constants, since the functions are plain pointers.
#define RL_CHECK_WITH(name, arguments, reference, ...) \
  expect_within(#name #arguments, RL_OF_VARIANT(GetParam(), name, arguments), reference, Promise{__VA_ARGS__})

TEST_P(VectorMath, FunctionsWithParameters_AllNumbers_AreWithinPromise) {
  RL_CHECK_WITH(clamp_f32, (n, x, -1.5f, 6, out), [](double x) { return reference::clamp(x, -1.5, 6); }, 0);
  RL_CHECK_WITH(clamp_f32, (n, x, 2, 1, out), [](double x) { return reference::clamp(x, 2, 1); }, 0);
  RL_CHECK_WITH(clamp_f32, (n, x, kNan, 1, out), [](double x) { return reference::clamp(x, kNan, 1); }, 0);
  RL_CHECK_WITH(clamp_f32, (n, x, -kInfinity, 1, out), [](double x) { return x > 1 ? 1 : x; }, 0);
  RL_CHECK_WITH(
      leaky_relu_f32, (n, x, 0.25f, out), [](double x) { return reference::leaky_relu(x, 0.25); }, 0.5);
  RL_CHECK_WITH(
      elu_f32, (n, x, 1.5f, 0.5f, 2, out), [](double x) { return reference::elu(x, 1.5, 0.5, 2); }, 3);
  RL_CHECK_WITH(
      logit_f32, (n, x, -1, 2, out),
      [](double x) {
        const auto within = static_cast<float>(x < -1 ? -1 : (x > 2 ? 2 : x));
        return std::log(static_cast<double>(within / (1 - within)));
      },
      1);
  RL_CHECK_WITH(
      softplus_f32, (n, x, 2, 20, out), [](double x) { return reference::softplus(x, 2, 20); }, 3, 0x1p-149);
}

#define RL_CHECK_POWER(exponent) \
  RL_CHECK_WITH(power_of_f32, (n, x, exponent, out), [](double x) { return std::pow(x, exponent); }, 1.1)
#define RL_CHECK_BASE(base) \
  RL_CHECK_WITH(exponential_f32, (n, x, base, out), [](double x) { return std::pow(base, x); }, 1.1)

TEST_P(VectorMath, Powers_AllNumbers_AreWithinPromise) {
  RL_CHECK_POWER(0.3f);
  RL_CHECK_POWER(-2.0f);
  RL_CHECK_POWER(3.0f);
  RL_CHECK_POWER(-2.7f);
  RL_CHECK_POWER(1000.3f);
  RL_CHECK_POWER(0.0f);
  RL_CHECK_POWER(kInfinity);
  RL_CHECK_POWER(-kInfinity);
  RL_CHECK_POWER(kNan);
  RL_CHECK_BASE(2.0f);
  RL_CHECK_BASE(0.3f);
  RL_CHECK_BASE(-3.0f);
  RL_CHECK_BASE(-1.0f);
  RL_CHECK_BASE(1.0f);
  RL_CHECK_BASE(-0.0f);
  RL_CHECK_BASE(1e-40f);
  RL_CHECK_BASE(-kInfinity);
  RL_CHECK_BASE(kNan);
}

TEST_P(VectorMath, AnyCount_IsComputedWithinItsArrays) {
  const Function function = RL_OF_VARIANT(GetParam(), sin_f32, (n, x, out));
  for (size_t n = 0; n <= 70; ++n) {
    for (const Edge edge : {Edge::kFront, Edge::kBack}) {
      Guarded<float> x(n, edge);
      Guarded<float> out(n, edge);
      for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i) * 1000;  // some of them are large
      function(n, x.data(), out.data());
      for (size_t i = 0; i < n; ++i) {
        float alone = 0;
        function(1, &x[i], &alone);
        EXPECT_EQ(out[i], alone) << i << " of " << n;
      }
      function(n, x.data(), x.data());
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], out[i]);
    }
  }
}

struct Named {
  const char* name;
  Function first;
};
RL_EXACT_VARIANTS(Named, variants, exp_f32)
std::string name_of(const ::testing::TestParamInfo<size_t>& info) { return variants()[info.param].name; }
INSTANTIATE_TEST_SUITE_P(Variants, VectorMath, ::testing::Range(size_t{0}, variants().size()), name_of);

}  // namespace
}  // namespace rushlight::ukernel
