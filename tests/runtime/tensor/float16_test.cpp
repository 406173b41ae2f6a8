// SPDX-License-Identifier: BSD-3-Clause
// Conversions against the definitions of both formats, computed in double: all 16-bit patterns, and the
// floats around each rounding boundary.
#include "runtime/tensor/float16.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

// The value of a pattern with `exponent_bits` and `fraction_bits`, from the definition; exact in double.
double value_of(uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * INFINITY : std::numeric_limits<double>::quiet_NaN();
  }
  const double significand = fraction + (exponent == 0 ? 0 : 1 << fraction_bits);
  return sign * std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
}

template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int kExponent = 5, kFraction = 10;
};
template <>
struct Format<BFloat16> {
  static constexpr int kExponent = 8, kFraction = 7;
};

template <class T>
T from_bits(unsigned bits) {
  T value;
  value.bits = static_cast<uint16_t>(bits);
  return value;
}

template <class T>
class Float16 : public ::testing::Test {};
using Types = ::testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(Float16, Types);

TYPED_TEST(Float16, ToFloat_IsExact_ForEveryPattern) {
  using F = Format<TypeParam>;
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const float got = from_bits<TypeParam>(bits);
    const double expected = value_of(static_cast<uint16_t>(bits), F::kExponent, F::kFraction);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << bits;
      ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << bits;
    }
  }
}

TYPED_TEST(Float16, FromFloat_GivesThePatternBack_ForEveryPattern) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const float wide = from_bits<TypeParam>(bits);
    const TypeParam back(wide);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      ASSERT_EQ(back.bits, bits);
    }
  }
}

// Between neighbours the nearer wins, and the even one of two equally near; the neighbour of the largest
// finite number is infinity.
TYPED_TEST(Float16, FromFloat_RoundsToNearestEven_BetweenAllNeighbours) {
  using F = Format<TypeParam>;
  const unsigned infinity = ((1u << F::kExponent) - 1) << F::kFraction;
  for (unsigned low = 0; low < infinity; ++low) {
    const unsigned high = low + 1;
    const double a = value_of(static_cast<uint16_t>(low), F::kExponent, F::kFraction);
    const double step = a - (low == 0 ? -value_of(1, F::kExponent, F::kFraction)
                                      : value_of(static_cast<uint16_t>(low - 1), F::kExponent, F::kFraction));
    const double b =
        high == infinity ? a + step : value_of(static_cast<uint16_t>(high), F::kExponent, F::kFraction);
    const double middle = (a + b) / 2;
    if (middle > std::numeric_limits<float>::max()) continue;
    const auto tie = static_cast<float>(middle);
    if (static_cast<double>(tie) != middle) continue;  // below float's own subnormals
    const float above = std::nextafter(tie, INFINITY);
    const float below = std::nextafter(tie, 0.0f);
    const unsigned even = (low & 1) == 0 ? low : high;
    for (const unsigned sign : {0u, 0x8000u}) {
      const float s = sign == 0 ? 1.0f : -1.0f;
      ASSERT_EQ(TypeParam(s * tie).bits, even | sign) << low;
      ASSERT_EQ(TypeParam(s * above).bits, high | sign) << low;
      ASSERT_EQ(TypeParam(s * below).bits, low | sign) << low;
    }
  }
}

TYPED_TEST(Float16, FromFloat_KeepsInfinityAndNan) {
  EXPECT_TRUE(std::isinf(static_cast<float>(TypeParam(INFINITY))));
  EXPECT_TRUE(std::isinf(static_cast<float>(TypeParam(-INFINITY))));
  for (const uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu, 0x7fc00000u}) {
    EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(internal::bits_float(bits))))) << bits;
  }
}

TEST(Half, FromFloat_SplitsAtTheLimits) {
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65519.99f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(0x1p-25f).bits, 0x0000);
  EXPECT_EQ(Half(std::nextafter(0x1p-25f, 1.0f)).bits, 0x0001);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
}

}  // namespace
}  // namespace rushlight
