// SPDX-License-Identifier: BSD-3-Clause
// One step of recurrent cells against double precision. The tolerance of 2e-6 is that of the approximations
// of sigmoid and tanh and of the sums.
#include "kernels/ukernel/recurrence.h"

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/recurrence.h"
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

using Run = void (*)(const RecurrentUnits&);
struct Cell {
  const char* name;
  Run run;
};
RL_VARIANTS(Cell, lstm_variants, lstm_cell)
RL_VARIANTS(Cell, gru_variants, gru_cell)
RL_VARIANTS(Cell, tanh_variants, rnn_tanh_cell)
RL_VARIANTS(Cell, relu_variants, rnn_relu_cell)

// A kind of layer, in one variant.
struct Kind {
  const char* kind;
  const char* variant;
  ptrdiff_t gates;
  Run run;
  reference::UnitAfter (*expected)(const RecurrentUnits&, size_t, size_t);
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.kind << kind.variant; }

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const Cell& c : lstm_variants()) all.push_back({"lstm ", c.name, 4, c.run, reference::lstm_cell});
  for (const Cell& c : gru_variants()) all.push_back({"gru ", c.name, 3, c.run, reference::gru_cell});
  for (const Cell& c : tanh_variants()) all.push_back({"tanh ", c.name, 1, c.run, reference::rnn_tanh_cell});
  for (const Cell& c : relu_variants()) all.push_back({"relu ", c.name, 1, c.run, reference::rnn_relu_cell});
  return all;
}

class Recurrence : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Variants, Recurrence, ::testing::ValuesIn(kinds()));

// Arrays of a step, in which rows and gates are further apart than necessary.
struct Step {
  Step(const Kind& kind, size_t rows, size_t n, Edge edge)
      : apart(n + 3),
        gates(static_cast<size_t>(kind.gates)),
        inputs(((rows - 1) * gates + gates - 1) * apart + n, edge),
        states(((rows - 1) * gates + gates - 1) * n + n, edge),
        bias(n, edge),
        before((rows - 1) * apart + n, edge),
        cell((rows - 1) * apart + n, edge),
        hidden((rows - 1) * apart + n, edge) {
    fill(inputs);
    fill(states);
    fill(bias);
    fill(before);
    fill(cell);
    fill(hidden);
    units.rows = rows;
    units.units = n;
    units.inputs = inputs.data();
    units.input_gate_stride = static_cast<ptrdiff_t>(apart);
    units.input_stride = static_cast<ptrdiff_t>(gates * apart);
    units.states = states.data();
    units.state_gate_stride = static_cast<ptrdiff_t>(n);
    units.state_stride = static_cast<ptrdiff_t>(gates * n);
    units.bias = bias.data();
    units.before = before.data();
    units.cell = cell.data();
    units.hidden = hidden.data();
    units.unit_stride = static_cast<ptrdiff_t>(apart);
  }

  size_t apart;
  size_t gates;
  Guarded<float> inputs;
  Guarded<float> states;
  Guarded<float> bias;
  Guarded<float> before;
  Guarded<float> cell;
  Guarded<float> hidden;
  RecurrentUnits units;
};

TEST_P(Recurrence, AnySize_IsTheReference) {
  const Kind& kind = GetParam();
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t rows : {1, 3}) {
      for (const size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100, 128, 515}) {
        Step step(kind, rows, n, edge);
        // Without a bias every other time.
        if (n % 2 == 0) step.units.bias = nullptr;
        std::vector<reference::UnitAfter> expected;
        for (size_t i = 0; i < rows * n; ++i) expected.push_back(kind.expected(step.units, i / n, i % n));
        kind.run(step.units);
        for (size_t i = 0; i < rows * n; ++i) {
          const size_t at = i / n * step.apart + i % n;
          EXPECT_NEAR(step.hidden[at], expected[i].hidden, 2e-6) << n << " " << i;
          if (kind.gates != 4) continue;
          EXPECT_NEAR(step.cell[at], expected[i].cell, 2e-6) << n << " " << i;
        }
      }
    }
  }
}

TEST_P(Recurrence, AUnitIsComputedAlone) {
  constexpr size_t kUnits = 37;
  Step all(GetParam(), 1, kUnits, Edge::kBack);
  const std::vector<float> cells(all.cell.begin(), all.cell.end());
  GetParam().run(all.units);
  for (size_t i = 0; i < kUnits; ++i) {
    float cell = cells[i];
    float hidden = 0;
    RecurrentUnits one = all.units;
    one.units = 1;
    one.inputs += i;
    one.states += i;
    one.bias += i;
    one.before += i;
    one.cell = &cell;
    one.hidden = &hidden;
    GetParam().run(one);
    EXPECT_EQ(hidden, all.hidden[i]);
    if (GetParam().gates != 4) continue;
    EXPECT_EQ(cell, all.cell[i]);
  }
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One unit whose gates are `inputs`; returns the hidden state after the step.
float after(Run run, const float* inputs, float* cell, float before) {
  const float states[4] = {};
  float hidden = 0;
  RecurrentUnits one;
  one.units = 1;
  one.inputs = inputs;
  one.input_gate_stride = 1;
  one.states = states;
  one.state_gate_stride = 1;
  one.before = &before;
  one.cell = cell;
  one.hidden = &hidden;
  run(one);
  return hidden;
}

TEST(LstmCell, GatesAreShutAndOpenAtInfinity_AndNanStays) {
  for (const Cell& each : lstm_variants()) {
    float cell = 2;
    const float kept[4] = {-kInfinity, kInfinity, 1, -kInfinity};
    EXPECT_NEAR(after(each.run, kept, &cell, 0), 0, 1e-37) << each.name;
    EXPECT_EQ(cell, 2.0f);
    const float replaced[4] = {kInfinity, -kInfinity, kInfinity, kInfinity};
    EXPECT_NEAR(after(each.run, replaced, &cell, 0), std::tanh(1.0f), 1e-7) << each.name;
    EXPECT_EQ(cell, 1.0f);
    const float unknown[4] = {0, 0, kNan, 0};
    EXPECT_TRUE(std::isnan(after(each.run, unknown, &cell, 0)));
    EXPECT_TRUE(std::isnan(cell));
  }
}

TEST(GruCell, GatesAreShutAndOpenAtInfinity_AndNanStays) {
  for (const Cell& each : gru_variants()) {
    const float kept[3] = {0, kInfinity, 1};
    EXPECT_EQ(after(each.run, kept, nullptr, 0.25f), 0.25f) << each.name;
    const float replaced[3] = {-kInfinity, -kInfinity, -kInfinity};
    EXPECT_EQ(after(each.run, replaced, nullptr, 0.25f), -1.0f) << each.name;
    const float unknown[3] = {kNan, 0, 0};
    const float states[3] = {0, 0, 1};
    float hidden = 0, before = 0;
    RecurrentUnits one;
    one.units = 1;
    one.inputs = unknown;
    one.states = states;
    one.input_gate_stride = one.state_gate_stride = 1;
    one.before = &before;
    one.hidden = &hidden;
    each.run(one);
    EXPECT_TRUE(std::isnan(hidden)) << each.name;
  }
}

TEST(RnnCells, SmallSumsKeepTheirDigits_AndNanStays) {
  for (const Cell& each : tanh_variants()) {
    for (const float x : {1e-30f, 3e-8f, -2e-4f, 0.01f, -0.3f, 7.0f, -11.0f}) {
      const double expected = std::tanh(static_cast<double>(x));
      EXPECT_NEAR(after(each.run, &x, nullptr, 0), expected, 3e-7 * std::abs(expected)) << each.name << x;
    }
    EXPECT_TRUE(std::isnan(after(each.run, &kNan, nullptr, 0))) << each.name;
  }
  for (const Cell& each : relu_variants()) {
    EXPECT_TRUE(std::isnan(after(each.run, &kNan, nullptr, 0))) << each.name;
    EXPECT_EQ(after(each.run, &kInfinity, nullptr, 0), kInfinity) << each.name;
  }
}

}  // namespace
}  // namespace rushlight::ukernel
