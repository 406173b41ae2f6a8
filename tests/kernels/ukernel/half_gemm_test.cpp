// SPDX-License-Identifier: BSD-3-Clause
// float16 weights are widened exactly, so the error is that of float32 sums. A row must have the same bits in
// any block of rows.
#include "kernels/ukernel/half_gemm.h"

#include <cmath>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/half_gemm.h"
#include "tests/kernels/ukernel/grouped_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using rushlight::testing::int8_bits;

struct Functions {
  const char* name;
  decltype(&ukernel::native::multiply_halves) multiply;
};
RL_VARIANTS(Functions, variants, multiply_halves)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class HalfGemmVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, HalfGemmVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

// Rows and a panel with float16 values of all exponents up to 2^-4, including subnormals.
struct Sample {
  size_t depth, rows, features, left_gap;
  Guarded<float> left, bias, residual;
  Guarded<uint16_t> panel;

  Sample(size_t the_depth, size_t the_rows, size_t the_features, Edge edge)
      : depth(the_depth),
        rows(the_rows),
        features(the_features),
        left_gap(the_depth % 3),
        left(the_rows * (the_depth + left_gap), edge),
        bias(the_features, edge),
        residual(the_rows * the_features, edge),
        panel(the_depth * kBlockFeatures, edge) {
    rushlight::testing::fill_floats(left, 2);
    rushlight::testing::fill_floats(bias, 1);
    rushlight::testing::fill_floats(residual, 1);
    for (uint16_t& each : panel) {
      const uint32_t bits = int8_bits()();
      each = static_cast<uint16_t>((bits & 0x83ffu) | (bits >> 16) % 12 << 10);
    }
  }

  [[nodiscard]] HalfGemm product(float* out) {
    HalfGemm made;
    made.depth = depth;
    made.rows = rows;
    made.features = features;
    made.left = left.data();
    made.left_stride = static_cast<ptrdiff_t>(depth + left_gap);
    made.panel = panel.data();
    if (depth % 2 == 0) made.bias = bias.data();
    if (rows % 2 == 0) made.residual = residual.data();
    made.residual_stride = static_cast<ptrdiff_t>(features);
    made.out = out;
    made.out_stride = static_cast<ptrdiff_t>(features);
    return made;
  }
};

TEST_P(HalfGemmVariants, AnySizes_NearReference) {
  for (const size_t depth : {0, 1, 2, 3, 16, 65, 576}) {
    for (const size_t rows : {1, 2, 3, 8, 9, 11}) {
      for (const size_t features : {1, 5, 8, 15, 16}) {
        const Edge edge = (rows + features) % 2 == 0 ? Edge::kFront : Edge::kBack;
        Sample sample(depth, rows, features, edge);
        Guarded<float> out(rows * features, edge);
        const HalfGemm product = sample.product(out.data());
        GetParam().multiply(product);
        for (size_t i = 0; i < rows; ++i) {
          for (size_t j = 0; j < features; ++j) {
            ASSERT_NEAR(out[i * features + j], reference::multiply_halves(product, i, j), 1e-5)
                << depth << " deep, row " << i << " of " << rows << ", feature " << j;
          }
        }
      }
    }
  }
}

TEST_P(HalfGemmVariants, AnyNumberOfRows_SameBitsOfEachRow) {
  Sample sample(65, 11, 16, Edge::kBack);
  std::vector<float> all(11 * 16), one(16);
  HalfGemm product = sample.product(all.data());
  product.residual = nullptr;
  GetParam().multiply(product);
  product.rows = 1;
  product.out = one.data();
  for (size_t i = 0; i < 11; ++i, product.left += product.left_stride) {
    GetParam().multiply(product);
    for (size_t j = 0; j < 16; ++j) ASSERT_EQ(one[j], all[i * 16 + j]) << i << " " << j;
  }
}

}  // namespace
}  // namespace rushlight::ukernel
