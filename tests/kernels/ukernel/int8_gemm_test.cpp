// SPDX-License-Identifier: BSD-3-Clause
// Spread rows times packed panels: bit-exact with a reference that does neither. Bytes after the depth are
// filled with 0x5a, so a panel that is not padded with zeros shows in the sums.
#include "kernels/ukernel/int8_gemm.h"

#include <cmath>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/int8_gemm.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int8_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using rushlight::testing::kRequantizations;
using rushlight::testing::RequantizationCase;

struct Functions {
  const char* name;
  size_t (*depth)(size_t);
  size_t (*columns)();
  size_t (*rows)();
  size_t (*spread_bytes)();
  size_t (*panel_bytes)(size_t);
  decltype(&ukernel::native::spread_int8) spread;
  decltype(&ukernel::native::pack_int8) pack;
  void (*multiply)(const Int8Gemm&);
};
RL_INTEGER_VARIANTS(Functions, variants, int8_gemm_depth, int8_gemm_columns, int8_gemm_rows,
                    int8_spread_bytes, int8_panel_bytes, spread_int8, pack_int8, multiply_int8_gemm)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int8GemmVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int8GemmVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

struct Sizes {
  size_t rows;
  size_t columns;
  size_t depth;
  size_t gap = 0;
  bool by_columns = true;  // layout of the right factor
  bool has_bias = true;
  bool has_row_bias = false;
  bool has_least = true;  // true if the right factor contains -128
};

void compare(const Functions& f, const RequantizationCase& rounding, const Sizes& sizes, Edge edge) {
  const auto [rows, columns, depth, gap, by_columns, has_bias, has_row_bias, has_least] = sizes;
  const size_t right_stride = (by_columns ? depth : columns) + gap;
  const size_t lines = by_columns ? columns : depth;
  Guarded<int8_t> left(rows * depth, edge);
  Guarded<int8_t> right(lines == 0 ? 0 : lines * right_stride - gap, edge);
  Guarded<int8_t> out(rows == 0 ? 0 : (rows - 1) * (columns + gap) + columns, edge);
  Guarded<int32_t> row_bias(rows, edge);
  fill_int8(left);
  fill_int8(right);
  for (int8_t& each : right) each = !has_least && each == -128 ? int8_t{-127} : each;
  fill_int8(out);
  for (int32_t& each : row_bias)
    each = static_cast<int32_t>(rushlight::testing::int8_bits()() % 20001) - 10000;
  std::vector<int8_t> expected(out.begin(), out.end());
  const rushlight::testing::Requantizations requantizations(rounding, columns, edge);
  const ptrdiff_t depth_stride = by_columns ? 1 : static_cast<ptrdiff_t>(right_stride);
  const ptrdiff_t column_stride = by_columns ? static_cast<ptrdiff_t>(right_stride) : 1;

  ASSERT_EQ(f.panel_bytes(depth) % 64, 0u);
  ASSERT_GE(f.depth(depth), depth);
  Guarded<char> panel(f.panel_bytes(depth));  // ends at a page, so it is aligned
  f.pack(panel.data(), right.data(), depth_stride, column_stride, depth, columns);
  const size_t left_stride = f.depth(depth) * f.spread_bytes();
  Guarded<char> spread(rows * left_stride, edge);
  for (char& each : spread) each = 0x5a;  // elements past the depth may have any value
  for (size_t i = 0; i < rows; ++i) {
    f.spread(spread.data() + i * left_stride, left.data() + i * depth, depth);
  }

  Int8Gemm product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.bias = has_bias ? requantizations.bias() : nullptr;
  product.row_bias = has_row_bias ? row_bias.data() : nullptr;
  product.to = requantizations.to();
  product.out = expected.data();
  product.out_stride = static_cast<ptrdiff_t>(columns + gap);
  reference::multiply_int8_gemm(product, left.data(), static_cast<ptrdiff_t>(depth), right.data(),
                                depth_stride, column_stride);
  product.left = spread.data();
  product.left_stride = static_cast<ptrdiff_t>(left_stride);
  product.panel = panel.data();
  product.out = out.data();
  f.multiply(product);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << name_of(rounding) << ": element " << i << " of " << rows << " x "
                                   << columns << ", depth " << depth << ", gap " << gap;
  }
}

TEST_P(Int8GemmVariants, AnySizes_SameBitsAsReference) {
  const size_t most = GetParam().columns();
  for (const size_t depth : {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 64, 67}) {
    for (const size_t columns : {size_t{1}, size_t{2}, size_t{7}, most / 2, most - 1, most}) {
      if (columns == 0 || columns > most) continue;
      for (const size_t rows :
           {size_t{1}, size_t{2}, size_t{3}, GetParam().rows(), 2 * GetParam().rows() + 1}) {
        const Edge edge = (depth + columns + rows) % 2 == 0 ? Edge::kFront : Edge::kBack;
        const RequantizationCase rounding = kRequantizations[(depth + columns) % std::size(kRequantizations)];
        Sizes sizes{rows, columns, depth, (rows + columns) % 3};
        sizes.by_columns = rows % 2 == 0;
        sizes.has_bias = depth % 3 != 0;
        sizes.has_row_bias = columns % 2 == 0;
        sizes.has_least = (depth + columns) % 4 < 2;
        compare(GetParam(), rounding, sizes, edge);
      }
    }
  }
}

TEST_P(Int8GemmVariants, AnyRounding_SameBitsAsReference) {
  for (const RequantizationCase& rounding : kRequantizations) {
    for (const size_t depth : {9, 24, 300}) {
      Sizes sizes{7, GetParam().columns(), depth};
      compare(GetParam(), rounding, sizes, Edge::kBack);
      sizes.has_least = false;
      compare(GetParam(), rounding, sizes, Edge::kBack);
    }
  }
}

// Rows begin anywhere in an image of lines: each consists of `parts` pieces of consecutive lines.
void compare_parts(const Functions& f, size_t rows, size_t columns, size_t parts, size_t piece, Edge edge) {
  const size_t depth = parts * piece, line = piece + 3 * rows;
  Guarded<int8_t> right(columns * depth, edge), out(rows * columns, edge);
  Guarded<int8_t> image((parts - 1) * line + piece + 3 * (rows - 1), edge);
  std::vector<int8_t> left(rows * depth);
  fill_int8(right);
  fill_int8(image);
  Guarded<ptrdiff_t> offsets(rows, edge);
  for (size_t i = 0; i < rows; ++i) {
    const size_t first = 3 * ((i * 5 + 2) % rows);
    offsets[i] = static_cast<ptrdiff_t>(first * f.spread_bytes());
    for (size_t k = 0; k < depth; ++k) left[i * depth + k] = image[first + k / piece * line + k % piece];
  }
  Guarded<char> spread(image.size() * f.spread_bytes(), edge);
  f.spread(spread.data(), image.data(), image.size());
  Guarded<char> panel(f.panel_bytes(depth));
  f.pack(panel.data(), right.data(), 1, static_cast<ptrdiff_t>(depth), depth, columns);
  const rushlight::testing::Requantizations requantizations(kRequantizations[0], columns, edge);
  Int8Gemm product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.bias = requantizations.bias();
  product.to = requantizations.to();
  std::vector<int8_t> expected(rows * columns);
  product.out = expected.data();
  product.out_stride = static_cast<ptrdiff_t>(columns);
  reference::multiply_int8_gemm(product, left.data(), static_cast<ptrdiff_t>(depth), right.data(), 1,
                                static_cast<ptrdiff_t>(depth));
  product.left = spread.data();
  product.row_offsets = offsets.data();
  product.parts = parts;
  product.part_stride = static_cast<ptrdiff_t>(line * f.spread_bytes());
  product.panel = panel.data();
  product.out = out.data();
  f.multiply(product);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << "element " << i << " of " << rows << " x " << columns << ", " << parts
                                   << " parts of " << piece;
  }
}

TEST_P(Int8GemmVariants, RowsInParts_SameBitsAsReference) {
  if (!kInt8GemmParts) return;
  for (const size_t parts : {1, 2, 3, 5}) {
    for (const size_t piece : {4, 12, 48, 100}) {
      if (GetParam().depth(piece) != piece) continue;
      for (size_t rows = 1; rows <= 2 * GetParam().rows() + 1; ++rows) {
        const size_t columns = rows % 2 == 0 ? GetParam().columns() : GetParam().columns() / 2;
        compare_parts(GetParam(), rows, columns, parts, piece, rows % 3 == 0 ? Edge::kFront : Edge::kBack);
      }
    }
  }
}

TEST_P(Int8GemmVariants, Extremes_DoNotSaturate) {
  // All products are 128 * 128 or 128 * 127: pairs of them overflow 16 bits.
  const size_t depth = 96, columns = GetParam().columns(), rows = GetParam().rows();
  std::vector<int8_t> left(rows * depth, -128), right(columns * depth, -128);
  for (size_t j = 0; j < columns; j += 2) {
    for (size_t k = 0; k < depth; ++k) right[j * depth + k] = 127;
  }
  Guarded<char> panel(GetParam().panel_bytes(depth));
  GetParam().pack(panel.data(), right.data(), 1, static_cast<ptrdiff_t>(depth), depth, columns);
  const size_t stride = GetParam().depth(depth) * GetParam().spread_bytes();
  Guarded<char> spread(rows * stride);
  for (size_t i = 0; i < rows; ++i) {
    GetParam().spread(spread.data() + i * stride, left.data() + i * depth, depth);
  }
  const int32_t multiplier = 1 << 30;
  const int8_t shift = -13;  // 2^-14
  std::vector<int8_t> out(rows * columns);
  Int8Gemm product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.left = spread.data();
  product.left_stride = static_cast<ptrdiff_t>(stride);
  product.panel = panel.data();
  product.to.multipliers = &multiplier;
  product.to.shifts = &shift;
  product.out = out.data();
  product.out_stride = static_cast<ptrdiff_t>(columns);
  GetParam().multiply(product);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i % columns % 2 == 0 ? -95 : 96) << i;
}

// Sums of all magnitudes: without products they equal the biases.
TEST_P(Int8GemmVariants, AnySum_SameBitsAsReference) {
  std::minstd_rand& bits = rushlight::testing::int8_bits();
  const size_t columns = GetParam().columns();
  for (int round = 0; round < 2000; ++round) {
    const auto rounding = static_cast<Rounding>(round % 3);
    const bool is_double = rounding == Rounding::kDouble;
    std::vector<int32_t> bias(columns), multipliers(columns);
    std::vector<int8_t> shifts(columns);
    std::vector<float> scales(columns);
    for (size_t j = 0; j < columns; ++j) {
      const auto random = static_cast<uint32_t>(bits()) * 65539u ^ static_cast<uint32_t>(bits());
      // All bit lengths are equally likely; values are often a power of two or next to one.
      const uint32_t size = (random % 4 == 0 ? 0x80000000u : random | 0x80000000u) >> (bits() % 32);
      bias[j] = static_cast<int32_t>(size + random / 4 % 3 - 1);
      if (random % 32 < 16) bias[j] = static_cast<int32_t>(0u - static_cast<uint32_t>(bias[j]));
      multipliers[j] = static_cast<int32_t>((1u << 30) + static_cast<uint32_t>(bits()) % (1u << 30));
      if (bits() % 8 == 0) multipliers[j] = bits() % 2 == 0 ? 1 << 30 : bits() % 2 == 0 ? 0 : 0x7fffffff;
      int shift = kLeastShift + static_cast<int>(bits() % (kMostShift - kLeastShift + 1));
      if (is_double && shift > 0) {  // the left shift must not overflow
        bias[j] >>= shift;
      }
      shifts[j] = static_cast<int8_t>(shift);
      scales[j] = std::ldexp(static_cast<float>(multipliers[j] | 1), shift - 31);
    }
    Int8Gemm product;
    product.rows = 1;
    product.columns = columns;
    Guarded<char> panel(GetParam().panel_bytes(0));
    GetParam().pack(panel.data(), nullptr, 1, 1, 0, columns);
    const char nothing = 0;
    product.left = &nothing;
    product.panel = panel.data();
    product.bias = bias.data();
    product.to.rounding = rounding;
    product.to.multipliers = multipliers.data();
    product.to.shifts = shifts.data();
    product.to.scales = scales.data();
    product.to.step = 1;
    product.to.zero_point = round % 5 * 60 - 120;
    std::vector<int8_t> out(columns), expected(columns);
    product.out = expected.data();
    reference::multiply_int8_gemm(product, nullptr, 0, nullptr, 0, 0);
    product.out = out.data();
    GetParam().multiply(product);
    for (size_t j = 0; j < columns; ++j) {
      ASSERT_EQ(out[j], expected[j]) << "rounding " << round % 3 << ", sum " << bias[j] << " x "
                                     << multipliers[j] << ", shift " << int{shifts[j]};
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
