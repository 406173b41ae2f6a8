// SPDX-License-Identifier: BSD-3-Clause
// Block-quantized weights times quantized rows: bit-exact, because sums are integers and each float step is
// specified. Panels hold random bytes, so all codes occur, and scales that are negative, zero or subnormal.
#include "kernels/ukernel/block_gemm.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/block_gemm.h"
#include "tests/kernels/ukernel/grouped_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using rushlight::testing::int8_bits;

struct Functions {
  const char* name;
  decltype(&ukernel::native::block_row_bytes) row_bytes;
  decltype(&ukernel::native::quantize_block_row) quantize;
  decltype(&ukernel::native::multiply_blocks) multiply;
};
RL_INTEGER_VARIANTS(Functions, variants, block_row_bytes, quantize_block_row, multiply_blocks)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class BlockGemmVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, BlockGemmVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

// Every combination of properties, with depths that end inside a word, a block and a group.
std::vector<BlockForm> forms() {
  std::vector<BlockForm> made;
  for (const size_t group : {16, 32, 64, 128, 256}) {
    for (const size_t depth : {size_t{1}, size_t{5}, group - 1, group, group + 6, 3 * group + 17}) {
      for (int kinds = 0; kinds < 16; ++kinds) {
        made.push_back(
            {depth, group, (kinds & 1) != 0, (kinds & 2) != 0, (kinds & 4) != 0, (kinds & 8) != 0});
      }
    }
  }
  return made;
}

// A panel of random elements. Scales are about 0.01; some are 0, subnormal as float16, or negative.
void fill_panel(const BlockForm& form, Guarded<uint8_t>& panel) {
  for (uint8_t& each : panel) each = static_cast<uint8_t>(int8_bits()());
  const size_t count = form.header_bytes() / (form.is_single ? 4 : 2);
  for (size_t g = 0; g < form.groups(); ++g) {
    uint8_t* to = panel.data() + g * form.group_bytes();
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = int8_bits()();
      if (form.is_single) {
        const float scale = 0.01F * (static_cast<float>(bits % 2001) / 1000.0F - 1.0F);
        std::memcpy(to + i * sizeof(scale), &scale, sizeof(scale));
      } else {
        const auto half = static_cast<uint16_t>((bits & 0x83ffu) | (bits >> 16) % 12 << 10);
        std::memcpy(to + i * sizeof(half), &half, sizeof(half));
      }
    }
  }
}

struct Sample {
  BlockForm form;
  size_t rows;
  size_t features;
  bool has_bias;
  bool has_residual;
};

void compare(const Functions& f, const Sample& sample, const std::vector<float>& left, Edge edge) {
  const BlockForm& form = sample.form;
  const size_t stride = sample.features + 3;
  Guarded<uint8_t> panel(form.panel_bytes(), edge);
  fill_panel(form, panel);
  Guarded<float> bias(sample.features, edge), residual(sample.rows * sample.features, edge),
      out((sample.rows - 1) * stride + sample.features, edge);
  rushlight::testing::fill_floats(bias, 1);
  rushlight::testing::fill_floats(residual, 1);
  const size_t row_bytes = f.row_bytes(form);
  ASSERT_EQ(row_bytes % 64, 0u);
  Guarded<char> quantized(sample.rows * row_bytes);
  for (char& each : quantized) each = 0x5a;
  Guarded<float> row(form.depth, edge);
  for (size_t i = 0; i < sample.rows; ++i) {
    std::copy_n(left.begin() + static_cast<ptrdiff_t>(i * form.depth), form.depth, row.data());
    f.quantize(form, row.data(), quantized.data() + i * row_bytes);
  }
  BlockGemm product;
  product.form = form;
  product.rows = sample.rows;
  product.features = sample.features;
  product.left = quantized.data();
  product.left_stride = row_bytes;
  product.panel = panel.data();
  if (sample.has_bias) product.bias = bias.data();
  if (sample.has_residual) product.residual = residual.data();
  product.residual_stride = static_cast<ptrdiff_t>(sample.features);
  product.out = out.data();
  product.out_stride = static_cast<ptrdiff_t>(stride);
  f.multiply(product);
  for (size_t i = 0; i < sample.rows; ++i) {
    for (size_t j = 0; j < sample.features; ++j) {
      volatile float expected =
          reference::multiply_blocks(form, panel.data(), j, left.data() + i * form.depth);
      if (sample.has_bias) expected = expected + bias[j];
      if (sample.has_residual) expected = expected + residual[i * sample.features + j];
      const float got = out[i * stride + j], wanted = expected;
      ASSERT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted)))
          << got << " instead of " << wanted << ": row " << i << " of " << sample.rows << ", feature " << j
          << ", depth " << form.depth << " in groups of " << form.group
          << (form.is_byte ? ", 8 bits" : ", 4 bits") << (form.is_single ? ", float32 scales" : "")
          << (form.has_minimum ? ", minimums" : "") << (form.is_narrow ? ", narrow" : "");
    }
    for (size_t j = sample.features; j < stride && i + 1 < sample.rows; ++j)
      ASSERT_EQ(out[i * stride + j], 0);
  }
}

std::vector<float> some_rows(size_t count, float size) {
  Guarded<float> made(count);
  rushlight::testing::fill_floats(made, size);
  return {made.begin(), made.end()};
}

TEST_P(BlockGemmVariants, AnySizes_SameBitsAsReference) {
  size_t number = 0;
  for (const BlockForm& form : forms()) {
    const size_t rows[] = {1, 2, 3, 5, 8, 11}, features[] = {16, 1, 9, 8, 15};
    for (int i = 0; i < 3; ++i, ++number) {
      const Sample sample = {form, rows[number % 6], features[number % 5], number % 2 == 0, number % 3 == 0};
      const float size = number % 4 == 0 ? 1e-3F : number % 4 == 1 ? 1e4F : 3.0F;
      compare(GetParam(), sample, some_rows(sample.rows * form.depth, size),
              number % 2 == 0 ? Edge::kFront : Edge::kBack);
    }
  }
}

TEST_P(BlockGemmVariants, BlocksOfExtremes_AreExact) {
  // Elements at the end of their range, blocks of zeros, of too small elements, and with one large element.
  for (const BlockForm& form : forms()) {
    for (const float value : {1.0F, -1.0F, 0.0F, 1e-31F, 3e38F}) {
      compare(GetParam(), {form, 1, 16, false, false}, std::vector<float>(form.depth, value), Edge::kBack);
    }
    std::vector<float> outlier(form.depth, 1e-3F);
    outlier[form.depth / 2] = 1e4F;
    compare(GetParam(), {form, 1, 16, false, false}, outlier, Edge::kFront);
  }
}

TEST_P(BlockGemmVariants, NotFinite_GivesNaN) {
  for (const float strange : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    for (const BlockForm& form : forms()) {
      std::vector<float> row(form.depth, 0.5F);
      row[form.depth - 1] = strange;
      compare(GetParam(), {form, 1, 7, false, true}, row, Edge::kBack);
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
