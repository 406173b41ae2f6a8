// SPDX-License-Identifier: BSD-3-Clause
// Tests of a family of tiles with 16-bit factors: against sums in double, with the allowance of gemm_test.cpp
// for each product. Products of the factors are exact in float32. Variants without products have no tiles.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/gemm_bf16.h"
#include "tests/kernels/ukernel/guarded.h"

namespace rushlight::testing {

struct NarrowGemm {
  const char* name;
  bool (*has)();
  size_t (*rows)();
  size_t (*columns)();
  void (*tile)(const ukernel::GemmTile16&);
  void (*pack)(uint16_t*, const uint16_t*, ptrdiff_t, ptrdiff_t, size_t, size_t);
  size_t (*group)() = [] { return size_t{1}; };
};

inline void fill(Guarded<uint16_t>& numbers, int fraction_bits) {
  static std::minstd_rand random_bits;
  for (uint16_t& each : numbers) {
    const float value = static_cast<float>(random_bits() % 2001) / 1000.0f - 1.0f;
    each = ukernel::reference::bits_of(value, fraction_bits);
  }
}

inline size_t groups(size_t depth, size_t group) { return (depth + group - 1) / group; }

inline void expect_tiles_of_the_reference(const NarrowGemm& gemm, int fraction_bits) {
  if (!gemm.has()) return;
  const size_t width = gemm.columns();
  const size_t group = gemm.group();
  for (size_t rows = 1; rows <= gemm.rows(); ++rows) {
    for (size_t columns = 1; columns <= width; columns += columns < 20 ? 1 : 7) {
      for (const size_t depth : {0, 1, 2, 3, 4, 7, 34}) {
        Guarded<uint16_t> a(rows * (depth + 1));
        Guarded<uint16_t> b(groups(depth, group) * group * width);
        Guarded<float> c(rows * width);
        Guarded<float> expected(rows * width);
        fill(a, fraction_bits);
        fill(b, fraction_bits);
        for (size_t i = 0; i < b.size(); ++i) {
          if (i / (group * width) * group + i % group >= depth) b[i] = 0;
        }
        std::vector<const uint16_t*> lines;
        for (size_t i = 0; i < rows; ++i) lines.push_back(a.data() + i * (depth + 1));
        ukernel::GemmTile16 tile;
        tile.rows = rows;
        tile.columns = columns;
        tile.depth = depth;
        tile.a = lines.data();
        tile.a_offset = 1;
        tile.b = b.data();
        tile.c_stride = static_cast<ptrdiff_t>(width);
        tile.low = depth == 34 ? -0.5f : tile.low;
        tile.high = depth == 7 ? 0.5f : tile.high;
        tile.c = expected.data();
        ukernel::reference::gemm_tile_narrow(tile, fraction_bits, group, width);
        tile.c = c.data();
        gemm.tile(tile);
        for (size_t i = 0; i < rows * width; ++i) {
          if (i % width >= columns) continue;
          EXPECT_NEAR(c[i], expected[i], 4e-7 * static_cast<double>(depth + 2))
              << "element " << i << " of " << rows << " x " << columns << " x " << depth;
        }
      }
    }
  }
}

// NaN, and infinities of one sign or both, in one element of A. The clamp lets NaN pass.
inline void expect_special_values_as_in_float32(const NarrowGemm& gemm, int fraction_bits) {
  if (!gemm.has()) return;
  const auto of = [&](float value) { return ukernel::reference::bits_of(value, fraction_bits); };
  const size_t width = gemm.columns();
  const size_t group = gemm.group();
  constexpr size_t kDepth = 6;
  for (const float special : {NAN, INFINITY, -INFINITY}) {
    for (const float other : {1.0f, 0.0f, -INFINITY}) {
      std::vector<uint16_t> a(kDepth, of(0.5f));
      std::vector<uint16_t> b(groups(kDepth, group) * group * width);
      std::vector<float> c(width);
      a[1] = of(special);
      a[4] = of(other);
      for (size_t i = 0; i < b.size(); ++i) {
        b[i] = i / (group * width) * group + i % group < kDepth ? of(1.0f) : uint16_t{0};
      }
      const uint16_t* line = a.data();
      ukernel::GemmTile16 tile;
      tile.rows = 1;
      tile.columns = width;
      tile.depth = kDepth;
      tile.a = &line;
      tile.b = b.data();
      tile.c = c.data();
      tile.c_stride = static_cast<ptrdiff_t>(width);
      tile.high = 6.0f;
      gemm.tile(tile);
      const float sum = special + other;
      for (const float each : c) {
        if (sum != sum) {
          EXPECT_TRUE(each != each);
        } else {
          EXPECT_EQ(each, sum < 6.0f ? sum : 6.0f);
        }
      }
    }
  }
}

inline void expect_panels_of_groups_and_zeros(const NarrowGemm& gemm, int fraction_bits) {
  if (!gemm.has()) return;
  const size_t width = gemm.columns();
  const size_t group = gemm.group();
  for (const size_t columns : {width, width - 1, size_t{1}}) {
    for (const size_t depth : {0, 1, 4, 38}) {
      for (const size_t step : {1, 2}) {
        for (const bool transposed : {false, true}) {
          Guarded<uint16_t> b(depth * columns * step);
          fill(b, fraction_bits);
          const size_t row = transposed ? step : step * columns;
          const size_t column = transposed ? step * depth : step;
          Guarded<uint16_t> panel(groups(depth, group) * group * width);
          gemm.pack(panel.data(), b.data(), static_cast<ptrdiff_t>(row), static_cast<ptrdiff_t>(column),
                    depth, columns);
          for (size_t i = 0; i < panel.size(); ++i) {
            const size_t p = i / (group * width) * group + i % group;
            const size_t j = i / group % width;
            EXPECT_EQ(panel[i], p < depth && j < columns ? b[p * row + j * column] : 0) << p << ", " << j;
          }
        }
      }
    }
  }
}

}  // namespace rushlight::testing
