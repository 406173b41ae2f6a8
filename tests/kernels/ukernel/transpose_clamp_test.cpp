// SPDX-License-Identifier: BSD-3-Clause
// Transposes with residual and clamp: exact, as each result takes one addition and two comparisons. NaN must
// stay NaN.
#include "kernels/ukernel/transpose_clamp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/transpose_clamp.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using Buffer = Guarded<float>;

struct TransposeClamps {
  const char* name;
  void (*transpose)(const TransposeClamp&);
};
RL_VARIANTS(TransposeClamps, variants, transpose_clamped)
std::ostream& operator<<(std::ostream& out, const TransposeClamps& variants) { return out << variants.name; }

class TransposeClampVariants : public ::testing::TestWithParam<TransposeClamps> {};
INSTANTIATE_TEST_SUITE_P(Each, TransposeClampVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

struct Case {
  Case(size_t rows, size_t columns, Edge edge)
      : from((rows - 1) * (columns + 2) + columns, edge),
        to((columns - 1) * (rows + 3) + rows, edge),
        expected(to.size()),
        residual(to.size(), edge) {
    std::iota(from.begin(), from.end(), 1.0F);
    std::fill(to.begin(), to.end(), -1.0F);
    std::fill(expected.begin(), expected.end(), -1.0F);
    std::iota(residual.begin(), residual.end(), 5000.0F);
    transposed.rows = rows;
    transposed.columns = columns;
    transposed.from = from.data();
    transposed.from_stride = static_cast<ptrdiff_t>(columns + 2);
    transposed.to_stride = static_cast<ptrdiff_t>(rows + 3);
  }
  void compare(const TransposeClamps& variant) {
    transposed.to = expected.data();
    reference::transpose_clamped(transposed);
    transposed.to = to.data();
    variant.transpose(transposed);
    for (size_t i = 0; i < to.size(); ++i) {
      ASSERT_TRUE(to[i] == expected[i] || (std::isnan(to[i]) && std::isnan(expected[i])))
          << transposed.rows << " x " << transposed.columns << ", " << i << ": " << to[i];
    }
  }
  Buffer from, to, expected, residual;
  TransposeClamp transposed;
};

TEST_P(TransposeClampVariants, Transpose_AnySizes_AsReference) {
  constexpr size_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33};
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t rows : kSizes) {
      for (const size_t columns : kSizes) Case(rows, columns, edge).compare(GetParam());
    }
  }
}

TEST_P(TransposeClampVariants, Transpose_ResidualClampAndNotANumber_AsReference) {
  for (const size_t rows : {5, 16, 21}) {
    Case made(rows, 19, Edge::kBack);
    made.from[3] = std::numeric_limits<float>::quiet_NaN();
    made.transposed.residual = made.residual.data();
    made.transposed.low = 5010;
    made.transposed.high = 5100;
    made.compare(GetParam());
  }
}

}  // namespace
}  // namespace rushlight::ukernel
