// SPDX-License-Identifier: BSD-3-Clause
// One step of an LSTM cell against double precision: four gates, of which sigmoid and tanh are
// approximations. The tolerance of 2e-6 is theirs and that of the sum of two products.
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/lstm.h"
#include "kernels/ukernel/reference/lstm.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

std::minstd_rand random_bits;
template <class Floats>
void fill(Floats& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 250.0f - 4.0f;
}

struct Cell {
  const char* name;
  void (*run)(size_t, const float*, ptrdiff_t, const float*, ptrdiff_t, float*, float*);
};
RL_VARIANTS(Cell, variants, lstm_cell)
std::ostream& operator<<(std::ostream& out, const Cell& cell) { return out << cell.name; }

class LstmVariant : public ::testing::TestWithParam<Cell> {};
INSTANTIATE_TEST_SUITE_P(Variants, LstmVariant, ::testing::ValuesIn(variants()));

TEST_P(LstmVariant, AnySize_IsTheReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100, 128, 515}) {
      const size_t inputs_apart = n + 3;
      const size_t states_apart = n;
      Guarded<float> inputs(3 * inputs_apart + n, edge);
      Guarded<float> states(3 * states_apart + n, edge);
      Guarded<float> cell(n, edge);
      Guarded<float> hidden(n, edge);
      fill(inputs);
      fill(states);
      fill(cell);
      std::vector<double> next(n);
      std::vector<double> expected(n);
      reference::lstm_cell(n, inputs.data(), static_cast<ptrdiff_t>(inputs_apart), states.data(),
                           static_cast<ptrdiff_t>(states_apart), cell.data(), next.data(), expected.data());
      GetParam().run(n, inputs.data(), static_cast<ptrdiff_t>(inputs_apart), states.data(),
                     static_cast<ptrdiff_t>(states_apart), cell.data(), hidden.data());
      for (size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(cell[i], next[i], 2e-6) << n << " " << i;
        EXPECT_NEAR(hidden[i], expected[i], 2e-6) << n << " " << i;
      }
    }
  }
}

TEST_P(LstmVariant, AUnitIsComputedAlone) {
  constexpr size_t kUnits = 37;
  std::vector<float> inputs(4 * kUnits);
  std::vector<float> states(4 * kUnits);
  std::vector<float> cells(kUnits);
  fill(inputs);
  fill(states);
  fill(cells);
  for (size_t i = 0; i < kUnits; ++i) {
    float cell = cells[i];
    float hidden = 0;
    GetParam().run(1, inputs.data() + i, kUnits, states.data() + i, kUnits, &cell, &hidden);
    std::vector<float> all = cells;
    std::vector<float> out(kUnits);
    GetParam().run(kUnits, inputs.data(), kUnits, states.data(), kUnits, all.data(), out.data());
    EXPECT_EQ(cell, all[i]);
    EXPECT_EQ(hidden, out[i]);
  }
}

TEST_P(LstmVariant, GatesAreShutAndOpenAtInfinity_AndNanStays) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float states[4] = {};
  const auto run = [&](float in, float forget, float candidate, float out, float* cell) {
    const float inputs[4] = {in, forget, candidate, out};
    float hidden = 0;
    GetParam().run(1, inputs, 1, states, 1, cell, &hidden);
    return hidden;
  };
  float cell = 2;
  EXPECT_EQ(run(-kInfinity, kInfinity, 1, -kInfinity, &cell), 0.0f);
  EXPECT_EQ(cell, 2.0f);
  EXPECT_EQ(run(kInfinity, -kInfinity, kInfinity, kInfinity, &cell), std::tanh(1.0f));
  EXPECT_EQ(cell, 1.0f);
  EXPECT_TRUE(std::isnan(run(0, 0, std::numeric_limits<float>::quiet_NaN(), 0, &cell)));
  EXPECT_TRUE(std::isnan(cell));
}

}  // namespace
}  // namespace rushlight::ukernel
