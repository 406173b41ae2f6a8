// SPDX-License-Identifier: BSD-3-Clause
// Tiles and strips against sums in double, with an allowance of 4e-7 per product for operands in [-1, 1].
// Elements of C between its rows are compared too, so a store beyond the columns fails even inside of the
// buffer.
#include "kernels/ukernel/gemm.h"

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/gemm.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Gemm {
  const char* name;
  size_t (*rows)();
  size_t (*rows_of)(size_t);
  size_t (*columns)();
  size_t (*lanes)();
  void (*tile)(const GemmTile&);
  void (*strip)(const GemmStrip&);
  void (*row)(size_t, size_t, const float*, const float*, ptrdiff_t, bool, float*);
  void (*pack)(float*, const float*, ptrdiff_t, ptrdiff_t, size_t, size_t, size_t);
};
RL_VARIANTS(Gemm, variants, gemm_rows, gemm_rows_of, gemm_columns, gemm_lanes, gemm_tile, gemm_strip,
            gemm_row, gemm_pack)
std::ostream& operator<<(std::ostream& out, const Gemm& gemm) { return out << gemm.name; }

std::minstd_rand random_bits;
template <class Floats>
void fill(Floats& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 1000.0f - 1.0f;
}

// Buffers of a tile that end at protected pages.
struct Case {
  Case(size_t rows, size_t columns, size_t taps, size_t depth, size_t b_stride, size_t b_columns)
      : b(taps * depth == 0 ? 0 : (taps * depth - 1) * b_stride + b_columns),
        bias(rows > columns ? rows : columns),
        c(rows == 0 ? 0 : (rows - 1) * (columns + 3) + columns),
        residual((rows - 1) * (columns + 1) + columns) {
    for (size_t i = 0; i < taps * rows; ++i) {
      lines.emplace_back(new Guarded<float>(depth == 0 ? 0 : 2 * depth - 1));
      fill(*lines.back());
      pointers.push_back(lines.back()->data());
    }
    fill(b);
    fill(bias);
    fill(c);
    fill(residual);
    tile.rows = rows;
    tile.columns = columns;
    tile.taps = taps;
    tile.depth = depth;
    tile.a = pointers.data();
    tile.a_tap_stride = rows;
    tile.b = b.data();
    tile.b_stride = static_cast<ptrdiff_t>(b_stride);
    tile.b_tap_stride = static_cast<ptrdiff_t>(depth * b_stride);
    tile.b_columns = b_columns;
    tile.c = c.data();
    tile.c_stride = static_cast<ptrdiff_t>(columns + 3);
  }
  ~Case() {
    for (auto* line : lines) delete line;
  }

  // Compares with the reference; elements between the rows of C must not change.
  void check(const Gemm& gemm) { check(gemm.tile); }

  template <class Compute>
  void check(Compute&& compute) {
    const std::vector<float> before(c.begin(), c.end());
    reference::gemm_tile(tile);
    const std::vector<float> expected(c.begin(), c.end());
    for (size_t i = 0; i < c.size(); ++i) c[i] = before[i];
    compute(tile);
    const float allowed = 4e-7f * static_cast<float>(tile.taps * tile.depth + 2);
    for (size_t i = 0; i < c.size(); ++i) {
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(c[i])) << i;
      } else {
        EXPECT_NEAR(c[i], expected[i], allowed) << "element " << i << " of " << tile.rows << " x "
                                                << tile.columns << " x " << tile.taps << " * " << tile.depth;
      }
    }
    for (size_t i = 0; i < c.size(); ++i) c[i] = before[i];
  }

  GemmTile tile;
  std::vector<Guarded<float>*> lines;
  std::vector<const float*> pointers;
  Guarded<float> b;
  Guarded<float> bias;
  Guarded<float> c;
  Guarded<float> residual;
};

class GemmTest : public ::testing::TestWithParam<Gemm> {};
INSTANTIATE_TEST_SUITE_P(Variants, GemmTest, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GemmTest, Tile_OfEachSize_IsTheReference) {
  const Gemm& gemm = GetParam();
  for (size_t rows = 1; rows <= gemm.rows_of(1); ++rows) {
    for (size_t columns = 1; columns <= gemm.columns() && rows <= gemm.rows_of(columns); ++columns) {
      for (const size_t depth : {1, 6}) {
        Case packed(rows, columns, 1, depth, gemm.columns(), gemm.columns());
        packed.check(gemm);
        Case unpacked(rows, columns, 1, depth, columns + 2, columns);
        unpacked.check(gemm);
      }
    }
  }
}

TEST_P(GemmTest, Tile_OfTapsAndSteps_IsTheReference) {
  const Gemm& gemm = GetParam();
  for (const size_t columns : {gemm.columns(), gemm.columns() - 1}) {
    for (const size_t taps : {0, 1, 3}) {
      for (const size_t depth : {0, 1, 2, 7, 16, 17, 33, 100}) {
        for (const size_t b_columns : {gemm.columns(), columns}) {
          Case test(gemm.rows(), columns, taps, depth, gemm.columns(), b_columns);
          test.tile.a_step = 2;
          test.check(gemm);
          test.tile.a_step = 1;
          test.tile.a_offset = depth == 0 ? 0 : static_cast<ptrdiff_t>(depth - 1);
          test.check(gemm);
        }
      }
    }
  }
}

TEST_P(GemmTest, Tile_WithAllItCanBegin_And_EndWith_IsTheReference) {
  const Gemm& gemm = GetParam();
  for (const size_t columns : {gemm.columns(), gemm.lanes() + 1, size_t{1}}) {
    for (const auto initial :
         {GemmInitial::kZero, GemmInitial::kColumns, GemmInitial::kRows, GemmInitial::kC}) {
      for (const size_t b_columns : {gemm.columns(), columns}) {
        Case test(gemm.rows(), columns, 2, 20, gemm.columns(), b_columns);
        test.tile.initial_from = initial;
        test.tile.initial = test.bias.end() - (initial == GemmInitial::kRows ? gemm.rows() : columns);
        test.check(gemm);
        test.tile.residual = test.residual.data();
        test.tile.residual_stride = static_cast<ptrdiff_t>(columns + 1);
        test.check(gemm);
        test.tile.adds_to_c = true;
        test.check(gemm);
        test.tile.low = 0.0f;
        test.check(gemm);
        test.tile.high = 0.5f;
        test.check(gemm);
      }
    }
  }
}

TEST_P(GemmTest, Tile_WithNaN_StaysNaNThroughTheClamp) {
  const Gemm& gemm = GetParam();
  Case test(gemm.rows(), gemm.columns(), 1, 3, gemm.columns(), gemm.columns());
  (*test.lines[1])[2] = std::numeric_limits<float>::quiet_NaN();
  (*test.lines[0])[1] = std::numeric_limits<float>::infinity();
  test.tile.low = 0.0f;
  test.tile.high = 6.0f;
  test.check(gemm);
}

// Results must not depend on how rows and columns are split.
TEST_P(GemmTest, Tile_CutIntoSmallerOnes_GivesTheSameBits) {
  const Gemm& gemm = GetParam();
  const size_t width = gemm.columns();
  Case test(gemm.rows(), width, 1, 77, width, width);
  test.tile.adds_to_c = true;
  test.tile.residual = test.residual.data();
  test.tile.residual_stride = static_cast<ptrdiff_t>(width + 1);
  const std::vector<float> before(test.c.begin(), test.c.end());
  gemm.tile(test.tile);
  const std::vector<float> whole(test.c.begin(), test.c.end());
  for (size_t i = 0; i < before.size(); ++i) test.c[i] = before[i];
  for (size_t row = 0; row < gemm.rows(); ++row) {
    for (size_t column = 0; column < width; column += 5) {
      GemmTile tile = test.tile;
      tile.rows = 1;
      tile.columns = width - column < 5 ? width - column : 5;
      tile.a += row;
      tile.b += column;
      tile.b_columns = tile.columns;
      tile.c += row * (width + 3) + column;
      tile.residual += row * (width + 1) + column;
      gemm.tile(tile);
    }
  }
  EXPECT_EQ(whole, std::vector<float>(test.c.begin(), test.c.end()));
}

// A strip, and the same rows as single-row tiles.
TEST_P(GemmTest, Strip_OfAnyRows_IsTheReference) {
  const Gemm& gemm = GetParam();
  const size_t lanes = gemm.lanes();
  for (const size_t columns : {gemm.columns(), gemm.columns() - 1, lanes + 1, lanes, size_t{1}}) {
    const size_t width = (columns + lanes - 1) / lanes * lanes;
    const size_t most = gemm.rows_of(columns);
    for (const size_t rows : {size_t{1}, most - 1, most, most + 1, 2 * most, 2 * most + 1, 5 * most - 1}) {
      for (const size_t taps : {0, 1, 3}) {
        for (const size_t depth : {0, 1, 18}) {
          for (const auto initial :
               {GemmInitial::kZero, GemmInitial::kColumns, GemmInitial::kRows, GemmInitial::kC}) {
            const auto a_stride = static_cast<ptrdiff_t>(depth + 2);
            Guarded<float> image(taps * (rows * (depth + 2) + 1));
            fill(image);
            Case test(rows, columns, taps, depth, width, width);
            std::vector<const float*> firsts;
            std::vector<const float*> panels;
            for (size_t t = 0; t < taps; ++t) {
              firsts.push_back(image.data() + t * (rows * (depth + 2) + 1));
              panels.push_back(test.b.data() + t * depth * width);
              for (size_t r = 0; r < rows; ++r) {
                test.pointers[t * rows + r] = firsts[t] + 2 + static_cast<ptrdiff_t>(r) * a_stride;
              }
            }
            GemmStrip strip;
            strip.rows = rows;
            strip.columns = columns;
            strip.taps = taps;
            strip.depth = depth;
            strip.a = firsts.data();
            strip.a_stride = a_stride;
            strip.a_offset = 2;
            strip.b = panels.data();
            strip.b_stride = static_cast<ptrdiff_t>(width);
            strip.initial_from = test.tile.initial_from = initial;
            strip.initial = test.tile.initial =
                test.bias.end() - (initial == GemmInitial::kRows ? rows : columns);
            strip.c = test.c.data();
            strip.c_stride = test.tile.c_stride;
            const auto computes = [&](const GemmTile& tile) {
              strip.residual = tile.residual;
              strip.residual_stride = tile.residual_stride;
              strip.adds_to_c = tile.adds_to_c;
              strip.low = tile.low;
              strip.high = tile.high;
              gemm.strip(strip);
            };
            test.check(computes);
            test.tile.high = 0.5f;
            test.check(computes);
            test.tile.residual = test.residual.data();
            test.tile.residual_stride = static_cast<ptrdiff_t>(columns + 1);
            test.check(computes);
            test.tile.adds_to_c = true;
            test.check(computes);
          }
        }
      }
    }
  }
}

// Several panels, and the same panels as tiles, whose bits a row must have.
TEST_P(GemmTest, Row_OfAnyPanels_HasTheBitsOfTiles) {
  const Gemm& gemm = GetParam();
  const size_t width = gemm.columns();
  for (const size_t panels : {0, 1, 2, 3, 4, 5, 9}) {
    for (const size_t depth : {0, 1, 7, 130}) {
      const bool continues = depth % 2 != 0;
      // Panels of more rows than the product has.
      const size_t panel = (depth + depth % 3) * width;
      Guarded<float> a(depth), b(panels * panel), c(panels * width), expected(panels * width);
      fill(a);
      fill(b);
      fill(c);
      std::copy(c.begin(), c.end(), expected.begin());
      gemm.row(panels, depth, a.data(), b.data(), static_cast<ptrdiff_t>(panel), continues, c.data());
      const float* line = a.data();
      for (size_t i = 0; i < panels; ++i) {
        GemmTile tile;
        tile.rows = 1;
        tile.columns = tile.b_columns = width;
        tile.depth = depth;
        tile.a = &line;
        tile.b = b.data() + i * panel;
        tile.b_stride = static_cast<ptrdiff_t>(width);
        tile.c = expected.data() + i * width;
        if (continues) tile.initial_from = GemmInitial::kC;
        gemm.tile(tile);
      }
      EXPECT_EQ(std::vector<float>(c.begin(), c.end()), std::vector<float>(expected.begin(), expected.end()))
          << panels << " panels, depth " << depth;
    }
  }
}

TEST_P(GemmTest, Pack_OfAnyLayout_FillsUpWithZeros) {
  const Gemm& gemm = GetParam();
  for (size_t columns = 1; columns <= gemm.columns(); ++columns) {
    const size_t whole = (columns + gemm.lanes() - 1) / gemm.lanes() * gemm.lanes();
    for (const size_t depth : {0, 1, 4, 11}) {
      for (const bool transposed : {false, true}) {
        for (const size_t spread : {1, 2}) {
          const size_t width = spread == 1 ? gemm.columns() : whole;
          const size_t row = spread * (transposed ? 1 : columns + 1);
          const size_t column = spread * (transposed ? depth + 1 : 1);
          Guarded<float> b(depth == 0 ? 0 : (depth - 1) * row + (columns - 1) * column + 1);
          fill(b);
          Guarded<float> panel(depth * width);
          for (float& each : panel) each = 7.0f;
          gemm.pack(panel.data(), b.data(), static_cast<ptrdiff_t>(row), static_cast<ptrdiff_t>(column),
                    depth, columns, width);
          for (size_t p = 0; p < depth; ++p) {
            for (size_t j = 0; j < width; ++j) {
              ASSERT_EQ(panel[p * width + j], j < columns ? b[p * row + j * column] : 0.0f)
                  << p << ", " << j << " of " << depth << " x " << columns;
            }
          }
        }
      }
    }
  }
}

TEST(GemmSplitTest, Split_OfAnyNumberOfRows_NeedsNoMoreTiles) {
  const size_t most = gemm_rows();
  for (size_t rows = 1; rows < 5 * most; ++rows) {
    const size_t each = gemm_split(rows);
    EXPECT_LE(each, most);
    EXPECT_EQ((rows + each - 1) / each, (rows + most - 1) / most);
  }
}

}  // namespace
}  // namespace rushlight::ukernel
