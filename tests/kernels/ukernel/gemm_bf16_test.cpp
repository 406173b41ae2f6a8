// SPDX-License-Identifier: BSD-3-Clause
// Tiles of bfloat16 against sums in double of the converted factors, with the allowance of gemm_test.cpp for
// each product: products of bfloat16 are exact in float32.
#include "kernels/ukernel/gemm_bf16.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/gemm_bf16.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

struct Gemm {
  const char* name;
  bool (*has)();
  size_t (*columns)();
  void (*tile)(const GemmTileBf16&);
  void (*pack)(uint16_t*, const uint16_t*, ptrdiff_t, ptrdiff_t, size_t, size_t, size_t);
};
RL_BFLOAT16_VARIANTS(Gemm, variants, gemm_has_bf16, gemm_columns_bf16, gemm_tile_bf16, gemm_pack_bf16)

std::minstd_rand random_bits;
void fill(Guarded<float>& numbers) {
  for (float& each : numbers) each = static_cast<float>(random_bits() % 2001) / 1000.0f - 1.0f;
}
void fill(Guarded<uint16_t>& numbers) {
  for (uint16_t& each : numbers) {
    each = reference::bits_of(static_cast<float>(random_bits() % 2001) / 1000.0f - 1.0f, 7);
  }
}

class GemmBf16Test : public ::testing::TestWithParam<Gemm> {};
INSTANTIATE_TEST_SUITE_P(Variants, GemmBf16Test, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GemmBf16Test, Tile_OfEachSize_IsTheReference) {
  const Gemm& gemm = GetParam();
  const size_t width = gemm.columns();
  for (size_t rows = 1; rows <= gemm_rows(); ++rows) {
    for (size_t columns = 1; columns <= width; columns += columns < 20 ? 1 : 7) {
      for (const size_t depth : {0, 1, 2, 7, 34}) {
        for (const size_t taps : {1, 2}) {
          const size_t pairs = (depth + 1) / 2;
          Guarded<uint16_t> a(taps * rows * depth);
          Guarded<uint16_t> b(taps * pairs * 2 * width);
          Guarded<float> bias(rows);
          Guarded<float> residual(rows * columns);
          Guarded<float> c((rows - 1) * (columns + 3) + columns);
          fill(a);
          fill(b);
          for (auto* each : {&bias, &residual, &c}) fill(*each);
          // The second element of the last pair of an odd depth.
          for (size_t t = 0; t < taps && depth % 2 == 1; ++t) {
            for (size_t j = 0; j < width; ++j) b[((t + 1) * pairs - 1) * 2 * width + 2 * j + 1] = 0;
          }
          std::vector<const uint16_t*> lines;
          for (size_t i = 0; i < taps * rows; ++i) lines.push_back(a.data() + i * depth);
          GemmTileBf16 tile;
          tile.rows = rows;
          tile.columns = columns;
          tile.taps = taps;
          tile.depth = depth;
          tile.a = lines.data();
          tile.a_tap_stride = rows;
          tile.b = b.data();
          tile.b_stride = static_cast<ptrdiff_t>(2 * width);
          tile.b_tap_stride = static_cast<ptrdiff_t>(pairs * 2 * width);
          tile.b_columns = width;
          tile.initial_from = GemmInitial::kRows;
          tile.initial = bias.data();
          tile.c = c.data();
          tile.c_stride = static_cast<ptrdiff_t>(columns + 3);
          tile.residual = depth == 7 ? residual.data() : nullptr;
          tile.residual_stride = static_cast<ptrdiff_t>(columns);
          tile.low = depth == 34 ? 0.0f : tile.low;
          const std::vector<float> before(c.begin(), c.end());
          reference::gemm_tile_bf16(tile);
          const std::vector<float> expected(c.begin(), c.end());
          for (size_t i = 0; i < c.size(); ++i) c[i] = before[i];
          gemm.tile(tile);
          for (size_t i = 0; i < c.size(); ++i) {
            EXPECT_NEAR(c[i], expected[i], 4e-7 * static_cast<double>(taps * depth + 2))
                << "element " << i << " of " << rows << " x " << columns << " x " << taps << " * " << depth;
          }
        }
      }
    }
  }
}

TEST_P(GemmBf16Test, Pack_OfEachLayout_HasPairsAndZeros) {
  const Gemm& gemm = GetParam();
  const size_t width = gemm.columns();
  for (const size_t columns : {width, width - 1, size_t{1}}) {
    for (const size_t depth : {0, 1, 4, 37}) {
      for (const bool transposed : {false, true}) {
        Guarded<uint16_t> b(depth * columns);
        fill(b);
        const size_t row = transposed ? 1 : columns;
        const size_t column = transposed ? depth : 1;
        Guarded<uint16_t> panel((depth + 1) / 2 * 2 * width);
        gemm.pack(panel.data(), b.data(), static_cast<ptrdiff_t>(row), static_cast<ptrdiff_t>(column), depth,
                  columns, width);
        for (size_t i = 0; i < panel.size(); ++i) {
          const size_t p = i / (2 * width) * 2 + i % 2;
          const size_t j = i / 2 % width;
          EXPECT_EQ(panel[i], p < depth && j < columns ? b[p * row + j * column] : 0) << p << ", " << j;
        }
      }
    }
  }
}

TEST_P(GemmBf16Test, OnlyVariantsWithTheInstruction_SayThatTheyGain) {
  EXPECT_EQ(GetParam().has(), std::string(GetParam().name) == "avx512bf16");
}

}  // namespace
}  // namespace rushlight::ukernel
