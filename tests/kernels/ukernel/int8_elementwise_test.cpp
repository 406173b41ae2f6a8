// SPDX-License-Identifier: BSD-3-Clause
// Quantized sums and products: bit-exact, also in place. The constants include the largest that the contract
// permits, which use all 32 bits of the sum.
#include "kernels/ukernel/int8_elementwise.h"

#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/int8_elementwise.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int8_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Functions {
  const char* name;
  decltype(&ukernel::native::add_int8) add;
  decltype(&ukernel::native::add_rescaled_int8) add_rescaled;
  decltype(&ukernel::native::multiply_int8_pairs) multiply;
};
RL_EXACT_VARIANTS(Functions, variants, add_int8, add_rescaled_int8, multiply_int8_pairs)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int8ElementwiseVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int8ElementwiseVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

// The last sum uses all 32 bits: 128 * 2 * 8388000 + 2^19.
const QuantizedSum kSums[] = {{{1234567, -987654}, 1 << 19, 20, -3, -128, 127},
                              {{1 << 20, 1 << 20}, 0, 20, 0, -128, 127},
                              {{-300, 77}, 12345, 3, 17, -20, 90},
                              {{0, 0}, 7, 0, 0, 5, 5},
                              {{8388000, 8388000}, 1 << 19, 20, 100, -128, 127}};

enum class One : uint8_t { kNone, kFirst, kSecond, kBoth };  // operands that are one element for a row

// `expect` computes one result, `actual` rows of results.
template <class Numbers>
void compare(int8_t (*expect)(const Numbers&, int8_t, int8_t), void (*actual)(const Rows&, const Numbers&),
             const Numbers& numbers, size_t count, size_t n, One one, Edge edge) {
  const bool first = one == One::kFirst || one == One::kBoth,
             second = one == One::kSecond || one == One::kBoth;
  Guarded<int8_t> a(first ? count : count * n, edge), b(second ? count : count * n, edge),
      out(count * n, edge);
  fill_int8(a);
  fill_int8(b);
  std::vector<int8_t> expected(count * n);
  for (size_t i = 0; i < count * n; ++i) {
    expected[i] = expect(numbers, a[first ? i / n : i], b[second ? i / n : i]);
  }
  const auto stride = static_cast<ptrdiff_t>(n);
  Rows rows{};
  rows.count = count;
  rows.n = n;
  rows.in[0] = {a.data(), first ? 1 : stride, first};
  rows.in[1] = {b.data(), second ? 1 : stride, second};
  rows.out = out.data();
  rows.stride = stride;
  actual(rows, numbers);
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], expected[i]) << i << " of " << count << " x " << n;
  if (one == One::kBoth) return;
  Guarded<int8_t>& same = first ? b : a;
  rows.out = same.data();
  actual(rows, numbers);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(same[i], expected[i]) << "in place: " << i;
}

constexpr One kOnes[] = {One::kNone, One::kFirst, One::kSecond, One::kBoth};

TEST_P(Int8ElementwiseVariants, Sums_SameBitsAsReference) {
  for (const QuantizedSum& sum : kSums) {
    for (const size_t n : {1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 300}) {
      for (const One one : kOnes) {
        compare(reference::add_int8, GetParam().add, sum, 1, n, one, Edge::kBack);
        compare(reference::add_int8, GetParam().add, sum, 3, n, one, Edge::kFront);
      }
    }
  }
}

// Rows of few elements, and of many, which use tables.
TEST_P(Int8ElementwiseVariants, RescaledSums_SameBitsAsReference) {
  const int32_t multiplier = 1'777'777'777;
  for (const int8_t shift : {-31, -19, -18, 0}) {
    Requantization to;
    to.rounding = Rounding::kDouble;
    to.multipliers = &multiplier;
    to.shifts = &shift;
    to.zero_point = -7;
    to.high = 100;
    for (const int32_t other : {int32_t{(1 << 30) + 4321}, int32_t{-INT32_MAX}, int32_t{0}}) {
      const RescaledSum sum{{-128, 3}, {INT32_MAX, other}, {-1, -3}, to};
      for (const size_t n : {1, 7, 16, 65, 300}) {
        for (const One one : kOnes) {
          compare(reference::add_rescaled_int8, GetParam().add_rescaled, sum, 2, n, one, Edge::kBack);
        }
      }
    }
  }
}

TEST_P(Int8ElementwiseVariants, Products_SameBitsAsReference) {
  for (const Rounding rounding : {Rounding::kSingle, Rounding::kDouble, Rounding::kFloat}) {
    // With "double", larger left shifts of 17-bit products overflow.
    for (int shift = kLeastShift; shift <= (rounding == Rounding::kSingle ? kMostShift : 14); ++shift) {
      const int32_t multiplier = shift == 3 ? 0 : shift == 4 ? INT32_MAX : (1 << 30) + 12345678;
      const auto narrow = static_cast<int8_t>(shift);
      const float scale = 0.0007F * static_cast<float>(shift + 32);
      Requantization to;
      to.rounding = rounding;
      to.multipliers = &multiplier;
      to.shifts = &narrow;
      to.scales = &scale;
      to.zero_point = -7;
      to.high = 100;
      const QuantizedProduct product{{-128, shift % 2 == 0 ? 127 : 3}, to};
      for (const size_t n : {1, 7, 16, 17, 65, 131}) {
        for (const One one : kOnes) {
          compare(reference::multiply_int8_pairs, GetParam().multiply, product, 2, n, one, Edge::kBack);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
