// SPDX-License-Identifier: BSD-3-Clause
// Pure data movement over all element sizes; bytes between rows must keep their value.
#include "kernels/ukernel/transpose.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/transpose.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Functions {
  const char* name;
  decltype(&native::transpose) transpose;
  decltype(&native::copy_rows) copy_rows;
  decltype(&native::reverse) reverse;
};
RL_VARIANTS(Functions, all, transpose, copy_rows, reverse)

struct Matrix {
  size_t rows;
  size_t columns;
  size_t element;
  size_t gap;  // elements between rows, in both matrices
};

void expect_transposed(const Functions& functions, const Matrix& of, Edge edge) {
  const size_t from_stride = (of.columns + of.gap) * of.element;
  const size_t to_stride = (of.rows + of.gap) * of.element;
  const auto bytes = [&](size_t rows, size_t columns, size_t stride) {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns * of.element;
  };
  Guarded<char> from(bytes(of.rows, of.columns, from_stride), edge);
  Guarded<char> to(bytes(of.columns, of.rows, to_stride), edge);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 256);
  std::vector<char> expected(to.size(), 0);
  const auto from_step = static_cast<ptrdiff_t>(from_stride);
  const auto to_step = static_cast<ptrdiff_t>(to_stride);
  reference::transpose(of.rows, of.columns, of.element, from.data(), from_step, expected.data(), to_step);
  functions.transpose(of.rows, of.columns, of.element, from.data(), from_step, to.data(), to_step);
  EXPECT_TRUE(expected.empty() || std::memcmp(expected.data(), to.data(), expected.size()) == 0)
      << of.rows << " x " << of.columns << " of " << of.element << " bytes, gap " << of.gap;
}

class Transpose : public ::testing::TestWithParam<Functions> {};

TEST_P(Transpose, Reverse_AnySize_IsThatOfTheReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t element : {1, 2, 4, 8}) {
      for (size_t n = 1; n < 150; ++n) {
        Guarded<char> from(n * element, edge);
        Guarded<char> to(n * element, edge);
        for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 256);
        std::vector<char> expected(to.size());
        const char* const last = from.data() + (n - 1) * element;
        reference::reverse(n, element, last, expected.data());
        GetParam().reverse(n, element, last, to.data());
        EXPECT_EQ(std::memcmp(expected.data(), to.data(), expected.size()), 0) << n << " of " << element;
      }
    }
  }
}

TEST_P(Transpose, Matrix_OddSizes_IsThatOfTheReference) {
  for (const size_t element : {1, 2, 4, 8, 16}) {
    for (const size_t rows : {0, 1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 33, 64, 67, 128, 130, 384, 512}) {
      for (const size_t columns : {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 127, 150, 260}) {
        expect_transposed(GetParam(), {rows, columns, element, 0}, Edge::kBack);
      }
    }
  }
}

TEST_P(Transpose, Matrix_PartOfAWiderOne_LeavesWhatIsBetweenRows) {
  for (const size_t element : {1, 2, 4, 8, 16}) {
    for (const size_t rows : {3, 16, 21, 70}) {
      for (const size_t columns : {3, 16, 21, 140}) {
        expect_transposed(GetParam(), {rows, columns, element, 3}, Edge::kFront);
      }
    }
  }
}

TEST_P(Transpose, Rows_OfAnySize_AreCopied) {
  for (const size_t rows : {1, 3}) {
    for (size_t bytes = 1; bytes < 200; ++bytes) {
      const size_t gap = 5;
      const size_t size = (rows - 1) * (bytes + gap) + bytes;
      Guarded<char> from(size);
      Guarded<char> to(size);
      for (size_t i = 0; i < size; ++i) from[i] = static_cast<char>(i * 37 + 1);
      std::vector<char> expected(size, 0);
      const auto step = static_cast<ptrdiff_t>(bytes + gap);
      reference::copy_rows(rows, bytes, from.data(), step, expected.data(), step);
      GetParam().copy_rows(rows, bytes, from.data(), step, to.data(), step);
      for (size_t i = 0; i < size; ++i) ASSERT_EQ(to[i], expected[i]) << rows << " of " << bytes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Transpose, ::testing::ValuesIn(all()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rushlight::ukernel
