// SPDX-License-Identifier: BSD-3-Clause
// Compares all elementwise functions with loops over single elements: rows of any length, operands that are
// broadcast along a row or over all rows.
#include "kernels/ukernel/elementwise.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/elementwise.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;
using Function = void (*)(const Rows&);

// A function, the element sizes of its operands, and its reference.
struct Case {
  const char* name;
  std::vector<Function> variants;
  size_t out_size;
  std::vector<size_t> in_sizes;
  void (*expected)(const Rows&);
  float allowed;  // relative error of float results
  bool any_bits;  // operands have any bit patterns, not only ordinary floats
};

#define RL_FLOATS(name, inputs, allowed, result)                                         \
  Case {                                                                                 \
    #name, RL_EXACT_FUNCTIONS(name), 4, std::vector<size_t>(inputs, 4),                  \
        [](const Rows& rows) {                                                           \
          [[maybe_unused]] const float number = rows.number;                             \
          reference::for_elements<float, float, float, float>(                           \
              rows, [=](float a, float b, [[maybe_unused]] float c) { return result; }); \
        },                                                                               \
        allowed, false                                                                   \
  }
#define RL_TYPED(name, In, Out, result)                                                           \
  Case {                                                                                          \
    #name, RL_EXACT_FUNCTIONS(name), sizeof(Out), {sizeof(In), sizeof(In)},                       \
        [](const Rows& rows) {                                                                    \
          [[maybe_unused]] const auto factor = static_cast<In>(rows.factor);                      \
          reference::for_elements<Out, In, In, In>(rows, [=](In a, In b, In) { return result; }); \
        },                                                                                        \
        0, !std::is_same_v<In, float>                                                             \
  }
#define RL_CHOICE(name, T)                                                                               \
  Case {                                                                                                 \
    #name, RL_EXACT_FUNCTIONS(name), sizeof(T), {1, sizeof(T), sizeof(T)},                               \
        [](const Rows& rows) {                                                                           \
          reference::for_elements<T, uint8_t, T, T>(rows,                                                \
                                                    [](uint8_t m, T a, T b) { return m != 0 ? a : b; }); \
        },                                                                                               \
        0, true                                                                                          \
  }

bool is_nan(float x) { return x != x; }
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
float larger(float a, float b) { return is_nan(a) || is_nan(b) ? kNan : (a > b ? a : b); }
float smaller(float a, float b) { return is_nan(a) || is_nan(b) ? kNan : (a < b ? a : b); }

constexpr double kLn2 = 0.69314718055994530942;
double log_add(double a, double b) {
  const double apart = a == b ? 0 : std::fabs(a - b);
  return (a < b ? b : a) + std::log1p(std::exp(-apart));
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      RL_FLOATS(add_f32, 2, 2e-7f, std::fma(number, b, a)),
      RL_FLOATS(mul_f32, 2, 0, a * b),
      RL_FLOATS(div_f32, 2, 0, a / b),
      RL_FLOATS(maximum_f32, 2, 0, larger(a, b)),
      RL_FLOATS(minimum_f32, 2, 0, smaller(a, b)),
      RL_FLOATS(pow_f32, 2, 3e-7f, static_cast<float>(std::pow(static_cast<double>(a), b))),
      RL_FLOATS(log_add_f32, 2, 3e-7f, static_cast<float>(log_add(a, b))),
      RL_FLOATS(log2_add_f32, 2, 3e-7f, static_cast<float>(log_add(a * kLn2, b * kLn2) / kLn2)),
      RL_FLOATS(clamp_rows_f32, 3, 0, smaller(larger(a, b), c)),
      RL_FLOATS(lerp_f32, 3, 1e-6f,
                std::fabs(c) < 0.5f ? std::fma(c, b - a, a) : std::fma(-(b - a), 1 - c, b)),
      RL_FLOATS(addcmul_f32, 3, 1e-6f, std::fma(number * b, c, a)),
      RL_FLOATS(addcdiv_f32, 3, 1e-6f, a + number * b / c),
      RL_TYPED(add_i32, uint32_t, uint32_t, a + factor * b),
      RL_TYPED(add_i64, uint64_t, uint64_t, a + factor * b),
      RL_TYPED(mul_i32, uint32_t, uint32_t, a* b),
      RL_TYPED(mul_i64, uint64_t, uint64_t, a* b),
      RL_TYPED(equal_f32, float, uint8_t, a == b),
      RL_TYPED(equal_i32, int32_t, uint8_t, a == b),
      RL_TYPED(equal_i64, int64_t, uint8_t, a == b),
      RL_TYPED(not_equal_f32, float, uint8_t, a != b),
      RL_TYPED(not_equal_i32, int32_t, uint8_t, a != b),
      RL_TYPED(not_equal_i64, int64_t, uint8_t, a != b),
      RL_TYPED(less_f32, float, uint8_t, a < b),
      RL_TYPED(less_i32, int32_t, uint8_t, a < b),
      RL_TYPED(less_i64, int64_t, uint8_t, a < b),
      RL_TYPED(less_equal_f32, float, uint8_t, a <= b),
      RL_TYPED(less_equal_i32, int32_t, uint8_t, a <= b),
      RL_TYPED(less_equal_i64, int64_t, uint8_t, a <= b),
      RL_CHOICE(where_8, uint8_t),
      RL_CHOICE(where_16, uint16_t),
      RL_CHOICE(where_32, uint32_t),
      RL_CHOICE(where_64, uint64_t),
  };
  return all;
}

std::minstd_rand random_bits;

float any_float() {
  constexpr float kSpecial[] = {0, -0.0f, 1, -1, 2, 0.5f, kNan, -HUGE_VALF, HUGE_VALF, 1e-40f};
  if (random_bits() % 4 == 0) return kSpecial[random_bits() % 10];
  return static_cast<float>(random_bits() % 2001) / 500.0f - 2.0f;
}

// Integers from a small or a large range, so that some are equal.
void fill(Guarded<char>& bytes, size_t element, bool any_bits) {
  for (size_t i = 0; i + element <= bytes.size(); i += element) {
    const float number = any_float();
    uint64_t whole =
        random_bits() % 3 == 0 ? random_bits() * uint64_t{0x9e3779b97f4a7c15} : random_bits() % 3;
    std::memcpy(bytes.data() + i, any_bits ? static_cast<void*>(&whole) : const_cast<float*>(&number),
                element);
  }
}

// Bit 2k of `form`: operand k is one element for each row; bit 2k + 1: all rows share one row.
void check(const Case& test, Function function, size_t count, size_t n, unsigned form) {
  Rows rows{};
  rows.count = count;
  rows.n = n;
  rows.number = 1.5f;
  rows.factor = static_cast<uint64_t>(-3);
  std::vector<std::unique_ptr<Guarded<char>>> inputs;
  for (size_t k = 0; k < test.in_sizes.size(); ++k) {
    const size_t size = test.in_sizes[k];
    const bool one = ((form >> (2 * k)) & 1) != 0;
    const bool same = ((form >> (2 * k + 1)) & 1) != 0;
    const size_t row = one ? 1 : n;
    const size_t apart = row + 2;  // with unused elements between rows
    const size_t elements = same ? row : (count - 1) * apart + row;
    inputs.push_back(std::make_unique<Guarded<char>>(elements * size));
    fill(*inputs.back(), size, test.any_bits);
    rows.in[k] = {inputs.back()->data(), same ? 0 : static_cast<ptrdiff_t>(apart * size), one};
  }
  const size_t out_bytes = ((count - 1) * (n + 1) + n) * test.out_size;
  rows.stride = static_cast<ptrdiff_t>((n + 1) * test.out_size);
  Guarded<char> got(out_bytes);
  Guarded<char> expected(out_bytes);
  rows.out = expected.data();
  test.expected(rows);
  rows.out = got.data();
  function(rows);
  for (size_t i = 0; i < out_bytes; i += test.out_size) {
    if (test.out_size == 4 && !test.any_bits) {
      float a = 0;
      float b = 0;
      std::memcpy(&a, &got[i], 4);
      std::memcpy(&b, &expected[i], 4);
      // A result after cancellation is as exact as its terms, which are at most 6.
      const float allowed = test.allowed * (test.allowed > 0 ? std::fmax(std::fabs(b), 6.0f) : 0);
      ASSERT_TRUE((is_nan(a) && is_nan(b)) || a == b || std::fabs(a - b) <= allowed)
          << test.name << ": " << a << ", not " << b << ", at " << i / 4 << " of rows of " << n << ", form "
          << form;
    } else {
      ASSERT_EQ(std::memcmp(&got[i], &expected[i], test.out_size), 0)
          << test.name << " at " << i / test.out_size << " of rows of " << n << ", form " << form;
    }
  }
}

struct Named {
  const char* name;
  Function one;
};
RL_EXACT_VARIANTS(Named, variants, add_f32)

class Elementwise : public ::testing::TestWithParam<size_t> {};

TEST_P(Elementwise, EveryForm_OfAnyLength_IsTheLoopOfElements) {
  for (const Case& test : cases()) {
    const auto forms = 1u << (2 * test.in_sizes.size());
    for (unsigned form = 0; form < forms; ++form) {
      for (const size_t n : {1u, 3u, 16u, 37u}) check(test, test.variants[GetParam()], 3, n, form);
    }
    for (size_t n = 0; n < 70; ++n) check(test, test.variants[GetParam()], 1, n, 0);
  }
}

TEST_P(Elementwise, Output_MayBeAnInput) {
  for (const Case& test : cases()) {
    if (test.out_size != 4 || test.in_sizes[0] != 4) continue;
    constexpr size_t kSize = 45;
    float a[kSize], b[kSize], c[kSize], expected[kSize];
    for (size_t i = 0; i < kSize; ++i) {
      a[i] = static_cast<float>(i + 1);
      b[i] = static_cast<float>(2 * i + 1);
      c[i] = static_cast<float>(3 * i);
    }
    Rows rows{1, kSize, {{a, 0, false}, {b, 0, false}, {c, 0, false}}, expected, 0, 0.5f, 2};
    test.variants[GetParam()](rows);
    rows.out = a;
    test.variants[GetParam()](rows);
    EXPECT_EQ(std::memcmp(a, expected, sizeof(a)), 0) << test.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Elementwise, ::testing::Range(size_t{0}, variants().size()),
                         [](const ::testing::TestParamInfo<size_t>& info) {
                           return std::string(variants()[info.param].name);
                         });

}  // namespace
}  // namespace rushlight::ukernel
