// SPDX-License-Identifier: BSD-3-Clause
// Conversions are exact functions of one element, so every variant must give the same bits. float16 is tested
// over all patterns; float32 over random bits and values on both sides of each rounding boundary and limit.
#include "kernels/ukernel/convert.h"

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/convert.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

struct Named {
  const char* name;
  decltype(&native::half_to_f32) one;
};
RL_EXACT_VARIANTS(Named, variants, half_to_f32)

#define RL_OF_VARIANT(name) (RL_EXACT_FUNCTIONS(name)[GetParam()])

// Samples of all kinds of values: random bit patterns for integers; also limits and halves for floats.
template <class T>
std::vector<T> samples() {
  std::minstd_rand random_bits(7);
  std::vector<T> all;
  for (int i = 0; i < 4000; ++i) {
    const uint64_t pattern = random_bits() * uint64_t{0x9e3779b97f4a7c15} >> 3;
    T value;
    std::memcpy(&value, &pattern, sizeof(value));
    all.push_back(value);
    all.push_back(static_cast<T>(static_cast<int>(pattern % 600) - 300));
  }
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    for (const double each :
         {0.0,      0.5,     1.5,     2.5,     127.5,     128.5,    254.5,     65504.0,
          65519.99, 65520.0, 65536.0, 0x1p-14, 0x1p-24,   0x1p-25,  0x1.8p-25, 2147483648.0,
          0x1p63,   4e9,     3.4e38,  1e-40,   8388607.5, 4194303.5}) {
      all.push_back(static_cast<T>(each));
      all.push_back(static_cast<T>(-each));
    }
    all.insert(all.end(), {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()});
  }
  return all;
}

// All float16 bit patterns.
std::vector<uint16_t> patterns() {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  return all;
}

// Spans of odd lengths, each in separate guarded memory.
template <class From, class To, class Convert, class One>
void expect_same(const char* name, const std::vector<From>& from, Convert convert, One one) {
  size_t length = 0;
  for (size_t first = 0; first < from.size(); first += length) {
    length = length % 131 + 1;
    const size_t n = std::min(length, from.size() - first);
    Guarded<From> x(n);
    Guarded<To> out(n);
    for (size_t i = 0; i < n; ++i) x[i] = from[first + i];
    convert(n, x.data(), out.data());
    for (size_t i = 0; i < n; ++i) {
      const To expected = one(x[i]);
      if (expected != expected && out[i] != out[i]) continue;
      ASSERT_EQ(std::memcmp(&expected, &out[i], sizeof(To)), 0)
          << name << " of " << +x[i] << ": " << +out[i] << ", not " << +expected;
    }
  }
}

class Convert : public ::testing::TestWithParam<size_t> {
 protected:
  template <class T>
  void check_quantized(void (*quantize)(size_t, const float*, const Quantization&, T*),
                       void (*dequantize)(size_t, const T*, float, float, float*)) {
    using Limits = std::numeric_limits<T>;
    for (const Quantization& how :
         {Quantization{1, 0, Limits::min(), Limits::max()}, Quantization{0.37f, 5, 0, 100},
          Quantization{3.0f, -7, Limits::min() / 2, Limits::max() / 2},
          // Subnormals make a difference with these scales.
          Quantization{0x1p127f, 1, Limits::min(), Limits::max()},
          Quantization{0x1p-127f, 1, Limits::min(), Limits::max()}}) {
      expect_same<float, T>(
          "quantize", samples<float>(), [&](size_t n, const float* x, T* out) { quantize(n, x, how, out); },
          [&](float x) { return reference::quantize<T>(x, how); });
    }
    for (const float scale : {0.3f, 0x1p-130f, 0x1p127f}) {
      expect_same<T, float>(
          "dequantize", samples<T>(),
          [&](size_t n, const T* x, float* out) { dequantize(n, x, scale, 7, out); },
          [&](T x) { return reference::dequantize(x, scale, 7); });
    }
  }
};

TEST_P(Convert, SixteenBitFloats_AreRoundedToNearestEven) {
  expect_same<uint16_t, float>("half_to_f32", patterns(), RL_OF_VARIANT(half_to_f32),
                               [](uint16_t x) { return reference::value_of(x, 10); });
  expect_same<uint16_t, float>("bfloat16_to_f32", patterns(), RL_OF_VARIANT(bfloat16_to_f32),
                               [](uint16_t x) { return reference::value_of(x, 7); });
  expect_same<float, uint16_t>("f32_to_half", samples<float>(), RL_OF_VARIANT(f32_to_half),
                               [](float x) { return reference::bits_of(x, 10); });
}

// bfloat16 has one NaN here, without a sign.
TEST_P(Convert, BFloat16_IsTheUpperHalfRounded) {
  expect_same<float, uint16_t>("f32_to_bfloat16", samples<float>(), RL_OF_VARIANT(f32_to_bfloat16),
                               [](float x) { return x != x ? uint16_t{0x7fc0} : reference::bits_of(x, 7); });
}

#define RL_CHECK(name, From, To, result) \
  expect_same<From, To>(#name, samples<From>(), RL_OF_VARIANT(name), [](From x) -> To { return result; })

TEST_P(Convert, Numbers_BecomeWhatCppMakesOfThem) {
  RL_CHECK(f64_to_f32, double, float, static_cast<float>(x));
  RL_CHECK(f32_to_f64, float, double, x);
  RL_CHECK(u8_to_f32, uint8_t, float, x);
  RL_CHECK(i8_to_f32, int8_t, float, x);
  RL_CHECK(i32_to_f32, int32_t, float, static_cast<float>(x));
  RL_CHECK(i64_to_f32, int64_t, float, static_cast<float>(x));
  RL_CHECK(i32_to_i64, int32_t, int64_t, x);
  RL_CHECK(i64_to_i32, int64_t, int32_t, static_cast<int32_t>(x));
}

TEST_P(Convert, Fractions_AreCutOffAndWhatDoesNotFitWraps) {
  RL_CHECK(f32_to_u8, float, uint8_t, reference::whole<uint8_t>(x));
  RL_CHECK(f32_to_i8, float, int8_t, reference::whole<int8_t>(x));
  RL_CHECK(f32_to_i32, float, int32_t, reference::whole<int32_t>(x));
  RL_CHECK(f32_to_i64, float, int64_t, reference::whole<int64_t>(x));
}

TEST_P(Convert, Bool_IsWhetherANumberIsNotZero) {
  RL_CHECK(bool_to_f32, uint8_t, float, x != 0 ? 1.0f : 0.0f);
  RL_CHECK(f32_to_bool, float, uint8_t, x != 0 ? 1 : 0);
  RL_CHECK(bool_to_i64, uint8_t, int64_t, x != 0 ? 1 : 0);
  RL_CHECK(i64_to_bool, int64_t, uint8_t, x != 0 ? 1 : 0);
}

TEST_P(Convert, QuantizedNumbers_AreTheNearestInRange) {
  check_quantized<uint8_t>(RL_OF_VARIANT(quantize_u8), RL_OF_VARIANT(dequantize_u8));
  check_quantized<int8_t>(RL_OF_VARIANT(quantize_i8), RL_OF_VARIANT(dequantize_i8));
  check_quantized<uint16_t>(RL_OF_VARIANT(quantize_u16), RL_OF_VARIANT(dequantize_u16));
  check_quantized<int16_t>(RL_OF_VARIANT(quantize_i16), RL_OF_VARIANT(dequantize_i16));
}

INSTANTIATE_TEST_SUITE_P(Variants, Convert, ::testing::Range(size_t{0}, variants().size()),
                         [](const ::testing::TestParamInfo<size_t>& info) {
                           return std::string(variants()[info.param].name);
                         });

}  // namespace
}  // namespace rushlight::ukernel
