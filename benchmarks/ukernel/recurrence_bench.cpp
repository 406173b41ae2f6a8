// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/lstm.h"
#include "kernels/ukernel/reference/lstm.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Cell {
  const char* name;
  void (*run)(size_t, const float*, ptrdiff_t, const float*, ptrdiff_t, float*, float*);
};
RL_VARIANTS(Cell, variants, lstm_cell)

void reference_run(size_t n, const float* inputs, ptrdiff_t input_stride, const float* states,
                   ptrdiff_t state_stride, float* cell, float* hidden) {
  static double next[1024];
  static double wide[1024];
  ukernel::reference::lstm_cell(n, inputs, input_stride, states, state_stride, cell, next, wide);
  for (size_t i = 0; i < n; ++i) {
    cell[i] = static_cast<float>(next[i]);
    hidden[i] = static_cast<float>(wide[i]);
  }
}

}  // namespace

RL_BENCHMARK(lstm, bench) {
  for (const Cell& each : bench::with_reference(variants(), {"reference", reference_run})) {
    for (const size_t n : {32, 128}) {
      const bench::Floats inputs = bench::some_floats(4 * n);
      const bench::Floats states = bench::some_floats(4 * n);
      bench::Floats cell(n);
      bench::Floats hidden(n);
      const auto stride = static_cast<ptrdiff_t>(n);
      bench.time({"lstm of " + std::to_string(n), each.name, 0, 44.0 * static_cast<double>(n)}, [&] {
        each.run(n, inputs.data(), stride, states.data(), stride, cell.data(), hidden.data());
      });
    }
  }
}
