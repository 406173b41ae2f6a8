// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/recurrence.h"
#include "kernels/ukernel/reference/recurrence.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

using ukernel::RecurrentUnits;

struct Cell {
  const char* name;
  void (*run)(const RecurrentUnits&);
};
RL_VARIANTS(Cell, lstm_variants, lstm_cell)
RL_VARIANTS(Cell, gru_variants, gru_cell)
RL_VARIANTS(Cell, tanh_variants, rnn_tanh_cell)

template <ukernel::reference::UnitAfter (*kUnit)(const RecurrentUnits&, size_t, size_t)>
void reference_run(const RecurrentUnits& step) {
  for (size_t i = 0; i < step.units; ++i) {
    const auto after = kUnit(step, 0, i);
    if (step.cell != nullptr) step.cell[i] = static_cast<float>(after.cell);
    step.hidden[i] = static_cast<float>(after.hidden);
  }
}

// Counts `operations` for each unit.
void time_cells(bench::Bench& bench, const std::string& kind, double operations,
                const std::vector<Cell>& cells) {
  for (const Cell& each : cells) {
    for (const size_t n : {32, 128}) {
      const bench::Floats inputs = bench::some_floats(4 * n);
      const bench::Floats states = bench::some_floats(4 * n);
      const bench::Floats before = bench::some_floats(n);
      bench::Floats cell(n);
      bench::Floats hidden(n);
      RecurrentUnits step;
      step.units = n;
      step.inputs = inputs.data();
      step.states = states.data();
      step.input_gate_stride = step.state_gate_stride = static_cast<ptrdiff_t>(n);
      step.before = before.data();
      step.cell = cell.data();
      step.hidden = hidden.data();
      bench.time({kind + " of " + std::to_string(n), each.name, 0, operations * static_cast<double>(n)},
                 [&] { each.run(step); });
    }
  }
}

}  // namespace

RL_BENCHMARK(recurrence, bench) {
  using namespace ukernel::reference;
  time_cells(bench, "lstm", 44,
             bench::with_reference(lstm_variants(), {"reference", reference_run<lstm_cell>}));
  time_cells(bench, "gru", 28, bench::with_reference(gru_variants(), {"reference", reference_run<gru_cell>}));
  time_cells(bench, "rnn", 9,
             bench::with_reference(tanh_variants(), {"reference", reference_run<rnn_tanh_cell>}));
}
