// SPDX-License-Identifier: BSD-3-Clause
// Float rows with grouped integer weights, dequantized in the product. The tolerance is relative to the sum
// of magnitudes, so cancellation cannot hide or cause a failure.
#include "kernels/ukernel/mixed_gemm.h"

#include <cmath>
#include <ostream>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/mixed_gemm.h"
#include "tests/kernels/ukernel/grouped_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::GroupedSample;
using rushlight::testing::GroupedSamples;
using rushlight::testing::Guarded;
using rushlight::testing::kGroupedForms;

struct Functions {
  const char* name;
  size_t (*columns)();
  decltype(&ukernel::native::mixed_panel_bytes) panel_bytes;
  decltype(&ukernel::native::pack_mixed) pack;
  decltype(&ukernel::native::multiply_mixed) multiply;
};
RL_VARIANTS(Functions, variants, mixed_gemm_columns, mixed_panel_bytes, pack_mixed, multiply_mixed)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class MixedGemmVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, MixedGemmVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

void compare(const Functions& f, const GroupedSample& sample, size_t rows, bool has_bias, Edge edge) {
  const GroupedSamples samples(sample, edge);
  const GroupedWeights weights = samples.weights();
  const size_t depth = weights.depth(), columns = sample.columns, stride = columns + sample.gap;
  Guarded<float> left(rows * depth, edge), bias(columns, edge), out((rows - 1) * stride + columns, edge);
  fill_floats(left, 3);
  fill_floats(bias, 1);
  ASSERT_EQ(f.panel_bytes(sample.form) % 64, 0u);
  Guarded<char> panel(f.panel_bytes(sample.form));
  f.pack(weights, columns, panel.data());
  MixedGemm product;
  product.form = sample.form;
  product.rows = rows;
  product.columns = columns;
  product.left = left.data();
  product.left_stride = static_cast<ptrdiff_t>(depth);
  product.panel = panel.data();
  product.bias = has_bias ? bias.data() : nullptr;
  product.out = out.data();
  product.out_stride = static_cast<ptrdiff_t>(stride);
  f.multiply(product);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      double size = 0;
      const double expected =
          reference::multiply_mixed(weights, j, left.data() + i * depth, product.bias, &size);
      // Sums of `depth` products, each rounded.
      const double tolerance = size * 0x1p-24 * (4 + std::sqrt(static_cast<double>(depth)));
      ASSERT_NEAR(out[i * stride + j], expected, tolerance)
          << "row " << i << " of " << rows << ", column " << j << " of " << columns << ", "
          << sample.form.groups << " groups of " << sample.form.group
          << (sample.form.is_packed ? ", packed" : "");
    }
    for (size_t j = columns; j < stride && i + 1 < rows; ++j) ASSERT_EQ(out[i * stride + j], 0);
  }
}

TEST_P(MixedGemmVariants, AnySizes_NearReference) {
  const size_t most = GetParam().columns();
  for (const GroupedForm& form : kGroupedForms) {
    for (const size_t columns : {size_t{1}, most / 2, most / 2 + 1, most - 1, most}) {
      if (columns == 0) continue;
      for (const size_t rows : {1, 2, 3, 4, 5, 9}) {
        const Edge edge = (columns + rows) % 2 == 0 ? Edge::kFront : Edge::kBack;
        compare(GetParam(), {form, columns, (rows + columns) % 3}, rows, rows % 3 != 0, edge);
      }
    }
  }
}

TEST_P(MixedGemmVariants, Rows_SameBitsInAnyTile) {
  const GroupedForm form = {3, 40, true};
  const GroupedSamples samples({form, GetParam().columns()}, Edge::kBack);
  Guarded<char> panel(GetParam().panel_bytes(form));
  GetParam().pack(samples.weights(), GetParam().columns(), panel.data());
  const size_t depth = samples.weights().depth(), columns = GetParam().columns();
  Guarded<float> left(5 * depth), together(5 * columns), alone(columns);
  fill_floats(left, 3);
  MixedGemm product;
  product.form = form;
  product.rows = 5;
  product.columns = columns;
  product.left = left.data();
  product.left_stride = static_cast<ptrdiff_t>(depth);
  product.panel = panel.data();
  product.out = together.data();
  product.out_stride = static_cast<ptrdiff_t>(columns);
  GetParam().multiply(product);
  product.rows = 1;
  product.out = alone.data();
  for (size_t i = 0; i < 5; ++i, product.left += depth) {
    GetParam().multiply(product);
    for (size_t j = 0; j < columns; ++j) ASSERT_EQ(together[i * columns + j], alone[j]) << i << " " << j;
  }
}

}  // namespace
}  // namespace rushlight::ukernel
