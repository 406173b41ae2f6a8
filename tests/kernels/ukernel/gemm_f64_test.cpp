// SPDX-License-Identifier: BSD-3-Clause
// Tiles of float64 against sums in long double, with an allowance of 1e-15 for each product of operands in
// [-1, 1]. gemm_test.cpp tests the same loops with every beginning and end in float32.
#include "kernels/ukernel/gemm_f64.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/gemm_f64.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

struct Gemm {
  const char* name;
  size_t (*rows)();
  size_t (*columns)();
  void (*tile)(const GemmTileF64&);
  void (*pack)(double*, const double*, ptrdiff_t, ptrdiff_t, size_t, size_t, size_t);
};
RL_VARIANTS(Gemm, variants, gemm_rows, gemm_columns_f64, gemm_tile_f64, gemm_pack_f64)

std::minstd_rand random_bits;
void fill(Guarded<double>& numbers) {
  for (double& each : numbers) each = static_cast<double>(random_bits() % 2000001) / 1e6 - 1.0;
}

class GemmF64Test : public ::testing::TestWithParam<Gemm> {};
INSTANTIATE_TEST_SUITE_P(Variants, GemmF64Test, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

// Packed and unpacked B, with everything that a tile can begin and end with.
TEST_P(GemmF64Test, Tile_OfEachSize_IsTheReference) {
  const Gemm& gemm = GetParam();
  const size_t width = gemm.columns();
  for (size_t rows = 1; rows <= gemm.rows(); ++rows) {
    for (size_t columns = 1; columns <= width; ++columns) {
      for (const size_t depth : {0, 1, 7, 33}) {
        for (const size_t b_columns : {width, columns}) {
          Guarded<double> a(rows * depth);
          Guarded<double> b(depth == 0 ? 0 : (depth - 1) * width + b_columns);
          Guarded<double> bias(columns);
          Guarded<double> residual(rows * columns);
          Guarded<double> c((rows - 1) * (columns + 3) + columns);
          for (auto* each : {&a, &b, &bias, &residual, &c}) fill(*each);
          std::vector<const double*> lines;
          for (size_t i = 0; i < rows; ++i) lines.push_back(a.data() + i * depth);
          GemmTileF64 tile;
          tile.rows = rows;
          tile.columns = columns;
          tile.depth = depth;
          tile.a = lines.data();
          tile.b = b.data();
          tile.b_stride = static_cast<ptrdiff_t>(width);
          tile.b_columns = b_columns;
          tile.initial_from = GemmInitial::kColumns;
          tile.initial = bias.data();
          tile.c = c.data();
          tile.c_stride = static_cast<ptrdiff_t>(columns + 3);
          tile.adds_to_c = depth % 2 == 1;
          tile.residual = depth == 7 ? residual.data() : nullptr;
          tile.residual_stride = static_cast<ptrdiff_t>(columns);
          tile.high = depth == 33 ? 0.5 : tile.high;
          const std::vector<double> before(c.begin(), c.end());
          reference::gemm_tile_f64(tile);
          const std::vector<double> expected(c.begin(), c.end());
          for (size_t i = 0; i < c.size(); ++i) c[i] = before[i];
          gemm.tile(tile);
          for (size_t i = 0; i < c.size(); ++i) {
            EXPECT_NEAR(c[i], expected[i], 1e-15 * static_cast<double>(depth + 2))
                << "element " << i << " of " << rows << " x " << columns << " x " << depth;
          }
        }
      }
    }
  }
}

TEST_P(GemmF64Test, Pack_OfEachLayout_HasTheElementsAndZeros) {
  const Gemm& gemm = GetParam();
  const size_t width = gemm.columns();
  for (const size_t columns : {width, width - 1, size_t{1}}) {
    for (const size_t depth : {0, 1, 5, 37}) {
      for (const bool transposed : {false, true}) {
        Guarded<double> b(depth * columns);
        fill(b);
        const size_t row = transposed ? 1 : columns;
        const size_t column = transposed ? depth : 1;
        Guarded<double> panel(depth * width);
        gemm.pack(panel.data(), b.data(), static_cast<ptrdiff_t>(row), static_cast<ptrdiff_t>(column), depth,
                  columns, width);
        for (size_t i = 0; i < depth * width; ++i) {
          const size_t p = i / width;
          const size_t j = i % width;
          EXPECT_EQ(panel[i], j < columns ? b[p * row + j * column] : 0.0) << p << ", " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
