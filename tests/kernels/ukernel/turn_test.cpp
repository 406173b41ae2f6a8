// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/turn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/turn.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using Buffer = Guarded<float>;

struct Turns {
  const char* name;
  void (*turn)(const Turn&);
};
RL_VARIANTS(Turns, variants, turn_clamped)
std::ostream& operator<<(std::ostream& out, const Turns& turns) { return out << turns.name; }

class TurnVariants : public ::testing::TestWithParam<Turns> {};
INSTANTIATE_TEST_SUITE_P(Each, TurnVariants, ::testing::ValuesIn(variants()),
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
    turned.rows = rows;
    turned.columns = columns;
    turned.from = from.data();
    turned.from_stride = static_cast<ptrdiff_t>(columns + 2);
    turned.to_stride = static_cast<ptrdiff_t>(rows + 3);
  }
  void compare(const Turns& variant) {
    turned.to = expected.data();
    reference::turn_clamped(turned);
    turned.to = to.data();
    variant.turn(turned);
    for (size_t i = 0; i < to.size(); ++i) {
      ASSERT_TRUE(to[i] == expected[i] || (std::isnan(to[i]) && std::isnan(expected[i])))
          << turned.rows << " x " << turned.columns << ", " << i << ": " << to[i];
    }
  }
  Buffer from, to, expected, residual;
  Turn turned;
};

TEST_P(TurnVariants, Turn_AnySizes_AsReference) {
  constexpr size_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33};
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t rows : kSizes) {
      for (const size_t columns : kSizes) Case(rows, columns, edge).compare(GetParam());
    }
  }
}

TEST_P(TurnVariants, Turn_ResidualClampAndNotANumber_AsReference) {
  for (const size_t rows : {5, 16, 21}) {
    Case made(rows, 19, Edge::kBack);
    made.from[3] = std::numeric_limits<float>::quiet_NaN();
    made.turned.residual = made.residual.data();
    made.turned.low = 5010;
    made.turned.high = 5100;
    made.compare(GetParam());
  }
}

}  // namespace
}  // namespace rushlight::ukernel
