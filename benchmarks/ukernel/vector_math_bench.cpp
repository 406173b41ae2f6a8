// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/vector_math.h"
#include "kernels/ukernel/vector_math.h"
#include "tests/kernels/ukernel/variants_here.h"

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
RL_EXACT_VARIANTS(Functions, variants, exp_f32, log_f32, tanh_f32, sigmoid_f32, erf_f32, gelu_f32, silu_f32,
                  sin_f32)

// One element at a time in double precision, with the C library's functions.
template <double (*kFunction)(double)>
void each_by_itself(size_t n, const float* x, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<float>(kFunction(static_cast<double>(x[i])));
}

void time_function(bench::Bench& bench, const char* variant, const char* name, Function function) {
  constexpr size_t kCount = 2048;
  const bench::Floats x = bench::some_floats(kCount);
  bench::Floats out(kCount);
  bench.time({std::string("vector_math ") + name + " of 2048", variant, 0, 8.0 * kCount},
             [&] { function(kCount, x.data(), out.data()); });
}

}  // namespace

RL_BENCHMARK(vector_math, bench) {
  namespace plain = ukernel::reference;
  const Functions reference{"reference",
                            each_by_itself<std::exp>,
                            each_by_itself<std::log>,
                            each_by_itself<std::tanh>,
                            each_by_itself<plain::sigmoid>,
                            each_by_itself<std::erf>,
                            each_by_itself<plain::gelu>,
                            each_by_itself<plain::silu>,
                            each_by_itself<std::sin>};
  for (const Functions& each : bench::with_reference(variants(), reference)) {
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
