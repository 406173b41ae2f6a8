// SPDX-License-Identifier: BSD-3-Clause
// int16 rows with int8 columns: bit-exact. Partial sums of 32 bits hold a limited number of products, so
// depths around that number and extreme factors are what finds an overflow.
#include "kernels/ukernel/int16_product.h"

#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/int16_product.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int16_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using rushlight::testing::kWideRequantizations;
using rushlight::testing::RequantizationCase;

struct Functions {
  const char* name;
  decltype(&ukernel::native::multiply_int16) multiply;
};
RL_INTEGER_VARIANTS(Functions, variants, multiply_int16)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int16ProductVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int16ProductVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

struct Sizes {
  size_t rows;
  size_t columns;
  size_t depth;
  size_t gap;
};

void compare(const Functions& functions, const RequantizationCase& rounding, const Sizes& of, Edge edge,
             bool has_bias = true, bool is_extreme = false) {
  const size_t stride = of.depth + of.gap;
  Guarded<int16_t> left(of.rows == 0 ? 0 : (of.rows - 1) * stride + of.depth, edge);
  Guarded<int8_t> right(of.columns == 0 ? 0 : (of.columns - 1) * stride + of.depth, edge);
  Guarded<int16_t> out(of.rows == 0 ? 0 : (of.rows - 1) * (of.columns + of.gap) + of.columns, edge);
  fill_int16(left);
  fill_int8(right);
  fill_int16(out);
  if (is_extreme) {
    for (int16_t& each : left) each = INT16_MIN;
    for (int8_t& each : right) each = INT8_MIN;
  }
  std::vector<int16_t> expected(out.begin(), out.end());
  const rushlight::testing::WideRequantizations requantizations(rounding, of.columns, edge);
  Int16Product product;
  product.rows = of.rows;
  product.columns = of.columns;
  product.depth = of.depth;
  product.left = left.data();
  product.left_stride = static_cast<ptrdiff_t>(stride);
  product.right = right.data();
  product.right_stride = static_cast<ptrdiff_t>(stride);
  product.bias = has_bias ? requantizations.bias() : nullptr;
  product.to = requantizations.to();
  product.out = expected.data();
  product.out_stride = static_cast<ptrdiff_t>(of.columns + of.gap);
  reference::multiply_int16(product);
  product.out = out.data();
  functions.multiply(product);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << name_of(rounding) << ": element " << i << " of " << of.rows << " x "
                                   << of.columns << ", depth " << of.depth << ", gap " << of.gap;
  }
}

TEST_P(Int16ProductVariants, AnySizes_SameBitsAsReference) {
  for (const size_t depth : {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64}) {
    for (const size_t columns : {1, 2, 3, 4, 5, 8, 13}) {
      for (const size_t rows : {1, 2, 3, 5}) {
        const Edge edge = (depth + columns + rows) % 2 == 0 ? Edge::kFront : Edge::kBack;
        const size_t index = (depth + columns) % std::size(kWideRequantizations);
        compare(GetParam(), kWideRequantizations[index], {rows, columns, depth, (rows + columns) % 3}, edge);
      }
    }
  }
}

TEST_P(Int16ProductVariants, AnyRounding_SameBitsAsReference) {
  for (const RequantizationCase& rounding : kWideRequantizations) {
    for (const size_t columns : {3, 4, 19}) {
      compare(GetParam(), rounding, {7, columns, 24, 0}, Edge::kBack);
      compare(GetParam(), rounding, {3, columns, 200, 1}, Edge::kFront, false);
    }
  }
}

// Depths around the number of products whose sum fits in 32 bits.
TEST_P(Int16ProductVariants, LongRows_SameBitsAsReference) {
  for (const size_t depth : {479, 480, 481, 495, 496, 497, 508, 511, 512, 513, 1023, 1500}) {
    const RequantizationCase& rounding = kWideRequantizations[depth % std::size(kWideRequantizations)];
    compare(GetParam(), rounding, {3, 5, depth, depth % 3}, Edge::kBack);
    compare(GetParam(), rounding, {2, 6, depth, depth % 2}, Edge::kFront);
  }
}

// Sums of the largest products, at depths where 32-bit sums would overflow, with scales that clamp no result.
TEST_P(Int16ProductVariants, ExtremeFactors_SameBitsAsReference) {
  const RequantizationCase tiny{Rounding::kSingle, true, -20, 0, INT16_MIN, INT16_MAX};
  for (const size_t depth : {1, 2, 16, 510, 511, 512, 1022, 1024, 4000}) {
    compare(GetParam(), tiny, {3, 5, depth, 0}, Edge::kBack, false, true);
  }
}

TEST_P(Int16ProductVariants, NoRows_TouchesNothing) {
  compare(GetParam(), kWideRequantizations[0], {0, 4, 4, 0}, Edge::kBack);
}

}  // namespace
}  // namespace rushlight::ukernel
