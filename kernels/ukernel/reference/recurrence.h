// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/recurrence.h in double, for tests. Nothing is rounded to float32, so that the
// tests' 2e-6 is the error of the whole step in a variant.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/ukernel/recurrence.h"

namespace rushlight::ukernel::reference {

// Overflows to 1 / inf = 0 for very negative x, which is the right limit.
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A unit of a row after the step; `cell` is not changed. For layers other than the LSTM `cell` stays 0.
struct UnitAfter {
  double cell;
  double hidden;
};

// The contributions of unit i of a row to gate g.
inline double input_of(const RecurrentUnits& step, size_t row, size_t i, ptrdiff_t g) {
  return static_cast<double>(step.inputs[static_cast<ptrdiff_t>(row) * step.input_stride +
                                         g * step.input_gate_stride + static_cast<ptrdiff_t>(i)]);
}
inline double state_of(const RecurrentUnits& step, size_t row, size_t i, ptrdiff_t g) {
  return static_cast<double>(step.states[static_cast<ptrdiff_t>(row) * step.state_stride +
                                         g * step.state_gate_stride + static_cast<ptrdiff_t>(i)]);
}
inline double gate_of(const RecurrentUnits& step, size_t row, size_t i, ptrdiff_t g) {
  return input_of(step, row, i, g) + state_of(step, row, i, g);
}

inline UnitAfter lstm_cell(const RecurrentUnits& step, size_t row, size_t i) {
  const auto gate = [&](ptrdiff_t g) { return gate_of(step, row, i, g); };
  const auto cell = static_cast<double>(
      step.cell[static_cast<ptrdiff_t>(row) * step.unit_stride + static_cast<ptrdiff_t>(i)]);
  const double next = sigmoid(gate(1)) * cell + sigmoid(gate(0)) * std::tanh(gate(2));
  return {next, sigmoid(gate(3)) * std::tanh(next)};
}

inline UnitAfter gru_cell(const RecurrentUnits& step, size_t row, size_t i) {
  const double bias = step.bias == nullptr ? 0 : static_cast<double>(step.bias[i]);
  const auto before = static_cast<double>(
      step.before[static_cast<ptrdiff_t>(row) * step.unit_stride + static_cast<ptrdiff_t>(i)]);
  const double reset = sigmoid(gate_of(step, row, i, 0));
  const double update = sigmoid(gate_of(step, row, i, 1));
  const double candidate = std::tanh(input_of(step, row, i, 2) + reset * (state_of(step, row, i, 2) + bias));
  return {0, (1 - update) * candidate + update * before};
}

inline UnitAfter rnn_tanh_cell(const RecurrentUnits& step, size_t row, size_t i) {
  return {0, std::tanh(gate_of(step, row, i, 0))};
}

inline UnitAfter rnn_relu_cell(const RecurrentUnits& step, size_t row, size_t i) {
  const double sum = gate_of(step, row, i, 0);
  return {0, sum < 0 ? 0 : sum};
}

}  // namespace rushlight::ukernel::reference
