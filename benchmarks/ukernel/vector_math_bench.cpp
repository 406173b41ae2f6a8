// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/vector_math.h"
#include "tests/kernels/ukernel/runs_here.h"

using namespace rushlight;

namespace {

using Function = void (*)(size_t, const float*, float*);

struct Functions {
  const char* name;
  Function exp;
  Function log;
  Function tanh;
  Function sigmoid;
  Function erf;
  Function gelu;
  Function silu;
  Function sin;
};
RL_VARIANTS(Functions, variants, exp_f32, log_f32, tanh_f32, sigmoid_f32, erf_f32, gelu_f32, silu_f32,
            sin_f32)

void time_function(bench::Bench& bench, const char* variant, const char* name, Function function) {
  constexpr size_t kCount = 2048;
  const bench::Floats x = bench::some_floats(kCount);
  bench::Floats out(kCount);
  bench.time({std::string("vector_math ") + name + " of 2048", variant, 0, 8.0 * kCount},
             [&] { function(kCount, x.data(), out.data()); });
}

}  // namespace

RL_BENCHMARK(vector_math, bench) {
  for (const Functions& each : variants()) {
    time_function(bench, each.name, "exp", each.exp);
    time_function(bench, each.name, "log", each.log);
    time_function(bench, each.name, "tanh", each.tanh);
    time_function(bench, each.name, "sigmoid", each.sigmoid);
    time_function(bench, each.name, "erf", each.erf);
    time_function(bench, each.name, "gelu", each.gelu);
    time_function(bench, each.name, "silu", each.silu);
    time_function(bench, each.name, "sin", each.sin);
  }
}
