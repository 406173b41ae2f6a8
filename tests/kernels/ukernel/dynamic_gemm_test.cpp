// SPDX-License-Identifier: BSD-3-Clause
// Rows quantized at run time times grouped weights: bit-exact with the reference, which neither packs nor
// vectorizes. A difference in a few elements means another order of the float steps; in whole columns, an
// error of packing.
#include "kernels/ukernel/dynamic_gemm.h"

#include <cmath>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/dynamic_gemm.h"
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
  decltype(&ukernel::native::dynamic_panel_bytes) panel_bytes;
  decltype(&ukernel::native::dynamic_row_bytes) row_bytes;
  decltype(&ukernel::native::find_extent) find_extent;
  decltype(&ukernel::native::quantize_dynamic_row) quantize;
  decltype(&ukernel::native::pack_dynamic) pack;
  decltype(&ukernel::native::multiply_dynamic) multiply;
};
RL_INTEGER_VARIANTS(Functions, variants, dynamic_gemm_columns, dynamic_panel_bytes, dynamic_row_bytes,
                    find_extent, quantize_dynamic_row, pack_dynamic, multiply_dynamic)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class DynamicGemmVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, DynamicGemmVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

// Scales that map the range from -size to size to all values of int8, or to about half of them.
std::vector<DynamicQuantization> quantizations(size_t rows, float size) {
  std::vector<DynamicQuantization> made;
  for (size_t i = 0; i < rows; ++i) {
    DynamicQuantization how;
    how.scale = size / (i % 3 == 2 ? 60.0F : 127.5F);
    how.inverse_scale = 1.0 / static_cast<double>(how.scale);
    how.zero_point = i % 4 == 0 ? 0 : i % 4 == 1 ? -128 : i % 4 == 2 ? 127 : 17;
    how.low = i % 2 == 0 ? -128 : -127;
    if (how.zero_point < how.low) how.zero_point = how.low;
    how.is_wide = i % 5 > 2;
    made.push_back(how);
  }
  return made;
}

void compare(const Functions& f, const GroupedSample& sample, size_t rows, float size, bool has_bias,
             Edge edge) {
  const GroupedSamples samples(sample, edge);
  const GroupedWeights weights = samples.weights();
  const size_t depth = weights.depth(), columns = sample.columns, stride = columns + sample.gap;
  Guarded<float> left(rows * depth, edge), bias(columns, edge), out((rows - 1) * stride + columns, edge);
  fill_floats(left, size);
  fill_floats(bias, 1);
  const std::vector<DynamicQuantization> hows = quantizations(rows, size);

  ASSERT_EQ(f.panel_bytes(sample.form) % 64, 0u);
  ASSERT_EQ(f.row_bytes(sample.form) % 64, 0u);
  Guarded<char> panel(f.panel_bytes(sample.form)), quantized(rows * f.row_bytes(sample.form));
  for (char& each : quantized) each = 0x5a;
  f.pack(weights, columns, panel.data());
  for (size_t i = 0; i < rows; ++i) {
    f.quantize(sample.form, hows[i], left.data() + i * depth,
               quantized.data() + i * f.row_bytes(sample.form));
  }
  DynamicGemm product;
  product.form = sample.form;
  product.rows = rows;
  product.columns = columns;
  product.left = quantized.data();
  product.left_stride = static_cast<ptrdiff_t>(f.row_bytes(sample.form));
  product.panel = panel.data();
  product.bias = has_bias ? bias.data() : nullptr;
  product.out = out.data();
  product.out_stride = static_cast<ptrdiff_t>(stride);
  f.multiply(product);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      const float expected =
          reference::multiply_dynamic(weights, j, hows[i], left.data() + i * depth, product.bias);
      ASSERT_EQ(out[i * stride + j], expected)
          << "row " << i << " of " << rows << ", column " << j << " of " << columns << ", "
          << sample.form.groups << " groups of " << sample.form.group
          << (sample.form.is_packed ? ", packed" : "");
    }
    for (size_t j = columns; j < stride && i + 1 < rows; ++j) ASSERT_EQ(out[i * stride + j], 0);
  }
}

TEST_P(DynamicGemmVariants, AnySizes_SameBitsAsReference) {
  const size_t most = GetParam().columns();
  for (const GroupedForm& form : kGroupedForms) {
    for (const size_t columns : {size_t{1}, size_t{3}, most / 2, most / 2 + 1, most}) {
      for (const size_t rows : {1, 2, 3, 4, 5, 8, 11}) {
        const Edge edge = (columns + rows) % 2 == 0 ? Edge::kFront : Edge::kBack;
        compare(GetParam(), {form, columns, (rows + columns) % 3}, rows, 3, rows % 3 != 0, edge);
      }
    }
  }
}

TEST_P(DynamicGemmVariants, Extremes_DoNotSaturate) {
  // Elements are at an end of their range, and the largest groups reach the limits of 32 bits.
  for (const bool is_packed : {false, true}) {
    for (const size_t group : {32u, 65792u}) {
      const GroupedForm form = {1, group, is_packed};
      std::vector<uint8_t> numbers(is_packed ? group / 2 : group, is_packed ? 0 : 0x80);
      const float scale = 1;
      const GroupedWeights weights = {form, numbers.data(), static_cast<ptrdiff_t>(numbers.size()), &scale,
                                      1};
      Guarded<char> panel(GetParam().panel_bytes(form)), row(GetParam().row_bytes(form));
      GetParam().pack(weights, 1, panel.data());
      for (const int32_t zero_point : {-128, 127}) {
        const std::vector<float> left(group, zero_point < 0 ? 1000.0F : -1000.0F);
        const DynamicQuantization how = {1, 1, zero_point, -128, 127, false};
        GetParam().quantize(form, how, left.data(), row.data());
        float out = 0;
        DynamicGemm product;
        product.form = form;
        product.rows = product.columns = 1;
        product.left = row.data();
        product.panel = panel.data();
        product.out = &out;
        GetParam().multiply(product);
        EXPECT_EQ(out, reference::multiply_dynamic(weights, 0, how, left.data(), nullptr));
      }
    }
  }
}

TEST_P(DynamicGemmVariants, Halves_RoundToEven) {
  // Each row of the weight selects one element.
  constexpr size_t kDepth = 8;
  const GroupedForm form = {1, kDepth, false};
  int8_t numbers[kDepth][kDepth] = {};
  for (size_t k = 0; k < kDepth; ++k) numbers[k][k] = 1;
  const float scales[kDepth] = {1, 1, 1, 1, 1, 1, 1, 1};
  const GroupedWeights weights = {form, numbers, kDepth, scales, 1};
  const float row[kDepth] = {0.5F, 1.5F, -0.5F, -1.5F, 2.5F, __builtin_inff(), -__builtin_inff(), 200.5F};
  Guarded<char> panel(GetParam().panel_bytes(form)), quantized(GetParam().row_bytes(form));
  const size_t columns = GetParam().columns() < kDepth ? GetParam().columns() : kDepth;
  GetParam().pack(weights, columns, panel.data());
  for (const bool is_wide : {false, true}) {
    for (const int32_t zero_point : {0, 1, -3}) {
      const DynamicQuantization how = {1, 1, zero_point, -128, 127, is_wide};
      GetParam().quantize(form, how, row, quantized.data());
      float out[kDepth] = {};
      DynamicGemm product;
      product.form = form;
      product.rows = 1;
      product.columns = columns;
      product.left = quantized.data();
      product.panel = panel.data();
      product.out = out;
      GetParam().multiply(product);
      for (size_t j = 0; j < columns; ++j) {
        EXPECT_EQ(out[j], reference::multiply_dynamic(weights, j, how, row, nullptr))
            << j << " " << zero_point;
      }
    }
  }
}

TEST_P(DynamicGemmVariants, Extent_IsOfAllNumbersAndWhatWasThere) {
  for (const size_t n : {0, 1, 3, 16, 63, 64, 65, 200}) {
    Guarded<float> x(n);
    fill_floats(x, 5);
    float least = 0.25F, most = -0.25F;
    for (const float each : std::vector<float>(x.begin(), x.end())) {
      least = each < least ? each : least;
      most = each > most ? each : most;
    }
    float min = 0.25F, max = -0.25F;
    EXPECT_TRUE(GetParam().find_extent(n, x.data(), &min, &max));
    EXPECT_EQ(min, least);
    EXPECT_EQ(max, most);
    for (size_t i = 0; i < n; i += 7) {
      const float kept = x[i];
      x[i] = __builtin_nanf("");
      EXPECT_FALSE(GetParam().find_extent(n, x.data(), &min, &max)) << i << " of " << n;
      x[i] = kept;
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
