// SPDX-License-Identifier: BSD-3-Clause
// The product for small cores, on unpacked factors whose rows may overlap as in an image (parts, lines):
// bit-exact. The left buffer ends with the last element that is used, in whichever line that is.
#include "kernels/ukernel/int8_product.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/int8_product.h"
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
  decltype(&ukernel::native::multiply_int8) multiply;
  decltype(&ukernel::native::multiply_int8_row) multiply_row;
};
RL_NATIVE_VARIANTS(Functions, variants, multiply_int8, multiply_int8_row)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int8ProductVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int8ProductVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

void compare(const Functions& functions, const RequantizationCase& rounding, size_t rows, size_t columns,
             size_t depth, size_t gap, Edge edge, bool has_bias = true, size_t parts = 1,
             size_t left_stride = 0, size_t line_rows = SIZE_MAX, size_t line_stride = 0) {
  if (left_stride == 0) left_stride = depth + gap;
  // As in an image, where a row of pixels is a row of parts: rows of the factor may overlap.
  const size_t part_stride = rows == 0 ? depth : (rows - 1) * left_stride + depth + gap;
  const size_t right_stride = parts * depth + gap;
  // The last element of a line's last row, of the last line or, if that is short, of the one before.
  const auto end_of = [&](size_t row) {
    return row / line_rows * line_stride + (parts - 1) * part_stride + row % line_rows * left_stride + depth;
  };
  const size_t last_whole = rows / line_rows * line_rows;
  const size_t before = rows == 0 || last_whole == 0 ? 0 : end_of(last_whole - 1);
  Guarded<int8_t> left(rows == 0 ? 0 : std::max(before, end_of(rows - 1)), edge);
  Guarded<int8_t> right(columns == 0 ? 0 : columns * right_stride - gap, edge);
  Guarded<int8_t> out(rows == 0 ? 0 : (rows - 1) * (columns + gap) + columns, edge);
  fill_int8(left);
  fill_int8(right);
  fill_int8(out);
  std::vector<int8_t> expected(out.begin(), out.end());
  const rushlight::testing::Requantizations requantizations(rounding, columns, edge);
  Int8Product product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.parts = parts;
  product.part_stride = static_cast<ptrdiff_t>(part_stride);
  product.left = left.data();
  product.left_stride = static_cast<ptrdiff_t>(left_stride);
  product.line_rows = line_rows;
  product.line_stride = static_cast<ptrdiff_t>(line_stride);
  product.right = right.data();
  product.right_stride = static_cast<ptrdiff_t>(right_stride);
  product.bias = has_bias ? requantizations.bias() : nullptr;
  product.to = requantizations.to();
  product.out = expected.data();
  product.out_stride = static_cast<ptrdiff_t>(columns + gap);
  reference::multiply_int8(product);
  product.out = out.data();
  functions.multiply(product);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << name_of(rounding) << ": element " << i << " of " << rows << " x "
                                   << columns << ", depth " << parts << " x " << depth << ", gap " << gap;
  }
}

TEST_P(Int8ProductVariants, AnySizes_SameBitsAsReference) {
  for (const size_t depth : {0, 1, 3, 4, 15, 16, 17, 35, 64}) {
    for (const size_t columns : {1, 2, 3, 4, 5, 8, 13, 33}) {
      for (const size_t rows : {1, 2, 3, 5}) {
        const Edge edge = (depth + columns + rows) % 2 == 0 ? Edge::kFront : Edge::kBack;
        const RequantizationCase rounding = kRequantizations[(depth + columns) % std::size(kRequantizations)];
        compare(GetParam(), rounding, rows, columns, depth, (rows + columns) % 3, edge);
      }
    }
  }
}

TEST_P(Int8ProductVariants, OneRow_SameSumsAsReference) {
  for (const size_t depth : {0, 1, 3, 4, 7, 15, 16, 17, 32, 64, 150}) {
    for (const size_t columns : {0, 1, 2, 3, 4, 5, 8, 13, 16, 31, 32, 33, 70}) {
      for (const size_t gap : {0, 3}) {
        const Edge edge = (depth + columns) % 2 == 0 ? Edge::kFront : Edge::kBack;
        Guarded<int8_t> left(depth, edge);
        Guarded<int8_t> right(columns == 0 ? 0 : columns * (depth + gap) - gap, edge);
        Guarded<int32_t> sums(columns, edge);
        fill_int8(left);
        fill_int8(right);
        std::vector<int32_t> expected(columns, 113);
        std::fill(sums.begin(), sums.end(), 113);
        Int8Row row;
        row.columns = columns;
        row.depth = depth;
        row.left = left.data();
        row.right = right.data();
        row.right_stride = static_cast<ptrdiff_t>(depth + gap);
        row.sums = expected.data();
        reference::multiply_int8_row(row);
        row.sums = sums.data();
        GetParam().multiply_row(row);
        for (size_t j = 0; j < columns; ++j) {
          ASSERT_EQ(sums[j], expected[j])
              << "column " << j << " of " << columns << ", depth " << depth << ", gap " << gap;
        }
      }
    }
  }
}

TEST_P(Int8ProductVariants, RowsInParts_SameBitsAsReference) {
  if (!kInt8ProductParts) return;
  for (const size_t parts : {2, 3, 10}) {
    for (const size_t depth : {0, 1, 4, 9, 16, 17, 48, 63, 64, 65, 150}) {
      for (const size_t columns : {1, 2, 7, 16, 17, 33}) {
        for (const size_t rows : {1, 2, 5, 13, 40}) {
          const Edge edge = (depth + columns + rows) % 2 == 0 ? Edge::kFront : Edge::kBack;
          const RequantizationCase rounding =
              kRequantizations[(depth + rows) % 3 == 0 ? columns % std::size(kRequantizations) : 0];
          const size_t left_stride = depth / 3 + 1;
          compare(GetParam(), rounding, rows, columns, depth, rows % 3, edge, true, parts, left_stride);
        }
      }
    }
  }
}

TEST_P(Int8ProductVariants, RowsInLines_SameBitsAsReference) {
  if (!kInt8ProductParts) return;
  for (const size_t parts : {1, 3, 10}) {
    for (const size_t depth : {1, 4, 16, 48, 150}) {
      for (const size_t line_rows : {1, 4, 5, 13}) {
        for (const size_t rows : {1, 5, 12, 30}) {
          const Edge edge = (depth + line_rows) % 2 == 0 ? Edge::kFront : Edge::kBack;
          const RequantizationCase& rounding = kRequantizations[rows % std::size(kRequantizations)];
          const size_t left_stride = depth / 2 + 1;
          compare(GetParam(), rounding, rows, 1 + rows + line_rows, depth, 0, edge, true, parts, left_stride,
                  line_rows, 2 * left_stride + line_rows);
        }
      }
    }
  }
}

TEST_P(Int8ProductVariants, ManyRowsOfFewColumns_SameBitsAsReference) {
  for (const size_t rows : {9, 17, 33, 64, 65, 100}) {
    for (const size_t columns : {1, 2, 3, 4, 8, 16, 20}) {
      for (const size_t depth : {0, 1, 5, 27}) {
        const RequantizationCase rounding = kRequantizations[(rows + columns) % std::size(kRequantizations)];
        compare(GetParam(), rounding, rows, columns, depth, depth % 2, Edge::kBack, columns % 3 != 0);
        compare(GetParam(), kRequantizations[0], rows, columns, depth, 1, Edge::kFront);
      }
    }
  }
}

TEST_P(Int8ProductVariants, AnyRounding_SameBitsAsReference) {
  for (const RequantizationCase& rounding : kRequantizations) {
    for (const size_t columns : {3, 4, 19}) {
      compare(GetParam(), rounding, 7, columns, 24, 0, Edge::kBack);
      compare(GetParam(), rounding, 3, columns, 200, 1, Edge::kFront, false);
    }
  }
}

// Depths and columns beyond what tiles keep of a row, with all remainders.
TEST_P(Int8ProductVariants, LongRows_SameBitsAsReference) {
  for (const size_t depth : {65, 127, 128, 129, 130, 131, 132, 258, 515}) {
    const RequantizationCase& rounding = kRequantizations[depth % std::size(kRequantizations)];
    compare(GetParam(), rounding, 6, 3, depth, depth % 3, Edge::kBack);
    compare(GetParam(), rounding, 2, 37, depth, depth % 2, Edge::kFront);
  }
  for (const size_t columns : {31, 32, 34, 63, 64, 65, 66, 67, 101}) {
    compare(GetParam(), kRequantizations[0], 4, columns, 19, 1, Edge::kBack);
    compare(GetParam(), kRequantizations[0], 1, columns, 21, 0, Edge::kFront);
  }
}

TEST_P(Int8ProductVariants, ManyRows_SameBitsAsReference) {
  for (const size_t rows : {6, 8, 11, 12, 13, 14, 15, 27}) {
    for (const size_t columns : {2, 7, 16, 17, 40, 150, 300}) {
      compare(GetParam(), kRequantizations[(rows + columns) % 2], rows, columns, 70, rows % 3, Edge::kBack);
    }
  }
}

// Sums of the largest and of the least products, at depths where narrow sums would overflow.
TEST_P(Int8ProductVariants, ExtremeFactors_SameBitsAsReference) {
  for (const size_t depth : {1, 2, 3, 63, 64, 65, 128, 130, 1000}) {
    for (const int right_value : {-128, 127}) {
      constexpr size_t kRows = 7, kColumns = 21;
      Guarded<int8_t> left(kRows * depth);
      Guarded<int8_t> right(kColumns * depth);
      for (int8_t& each : left) each = -128;
      for (int8_t& each : right) each = static_cast<int8_t>(right_value);
      const rushlight::testing::Requantizations requantizations(kRequantizations[0], kColumns, Edge::kBack);
      Int8Product product;
      product.rows = kRows;
      product.columns = kColumns;
      product.depth = depth;
      product.left = left.data();
      product.left_stride = static_cast<ptrdiff_t>(depth);
      product.right = right.data();
      product.right_stride = static_cast<ptrdiff_t>(depth);
      product.to = requantizations.to();
      // A scale so small that no sum is clamped.
      const int32_t multiplier = 1 << 30;
      int8_t shift = 0;
      while ((depth * 16384 >> -shift) > 200) --shift;
      product.to.multipliers = &multiplier;
      product.to.shifts = &shift;
      product.to.step = 0;
      product.out_stride = kColumns;
      int8_t expected[kRows * kColumns], out[kRows * kColumns] = {};
      product.out = expected;
      reference::multiply_int8(product);
      product.out = out;
      GetParam().multiply(product);
      for (size_t i = 0; i < kRows * kColumns; ++i) ASSERT_EQ(out[i], expected[i]) << depth << ", " << i;
    }
  }
}

TEST_P(Int8ProductVariants, NoRows_TouchesNothing) {
  compare(GetParam(), kRequantizations[0], 0, 4, 4, 0, Edge::kBack);
}

}  // namespace
}  // namespace rushlight::ukernel
