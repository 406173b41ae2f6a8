// SPDX-License-Identifier: BSD-3-Clause
// A step multiplies the hidden state of each batch element by rows of the weight as stored, four at a time,
// for a block of units whose gates fit on the stack, and then applies the cell to the block.
#include "kernels/backs/recurrence.h"

#include <algorithm>
#include <optional>

#include "kernels/recurrence/steps.h"
#include "kernels/ukernel/panel.h"
#include "kernels/ukernel/recurrence.h"

namespace rushlight::kernels::board {

namespace {

constexpr size_t kUnits = 32;  // of a block
constexpr size_t kMostGates = LstmUnit::kGates;

// Units [first, first + count) of batch element `row`.
void compute_block(const RecurrenceStep& step, const RecurrenceSizes& sizes, RecurrentCell cell, size_t row,
                   size_t first, size_t count) {
  float states[kMostGates * kUnits] = {};
  const size_t n = sizes.units;
  const float* before = step.before + row * n;
  for (size_t gate = 0; gate < sizes.gates; ++gate) {
    ukernel::multiply_rows({step.weight + (gate * n + first) * n, static_cast<ptrdiff_t>(n), before, count, n,
                            states + gate * kUnits, 1});
  }
  ukernel::RecurrentUnits units = units_of(step, sizes, row, first);
  units.units = count;
  units.states = states;
  units.state_gate_stride = kUnits;
  cell(units);
}

std::optional<Error> run(const RecurrenceProblem& problem, RecurrentCell cell) {
  return for_each_step(problem, [&](const RecurrenceStep& step) {
    const RecurrenceSizes& sizes = problem.sizes;
    for (size_t row = 0; row < sizes.batch; ++row) {
      for (size_t first = 0; first < sizes.units; first += kUnits) {
        compute_block(step, sizes, cell, row, first, std::min(kUnits, sizes.units - first));
      }
    }
  });
}

}  // namespace

std::optional<Error> lstm(KernelContext&, const RecurrenceProblem& problem) {
  return run(problem, ukernel::lstm_cell);
}

std::optional<Error> gru(KernelContext&, const RecurrenceProblem& problem) {
  return run(problem, ukernel::gru_cell);
}

std::optional<Error> rnn_tanh(KernelContext&, const RecurrenceProblem& problem) {
  return run(problem, ukernel::rnn_tanh_cell);
}

std::optional<Error> rnn_relu(KernelContext&, const RecurrenceProblem& problem) {
  return run(problem, ukernel::rnn_relu_cell);
}

}  // namespace rushlight::kernels::board
