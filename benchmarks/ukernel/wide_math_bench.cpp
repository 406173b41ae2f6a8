// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/wide_math.h"
#include "kernels/ukernel/wide_math.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

using Function = void (*)(size_t, const double*, double*);

struct Functions {
  const char* name;
  Function exp;
  Function log;
  Function sin;
  Function atan;
  Function tanh;
  Function sigmoid;
};
RL_EXACT_VARIANTS(Functions, variants, exp_f64, log_f64, sin_f64, atan_f64, tanh_f64, sigmoid_f64)

// One element at a time, with the C library's functions.
template <double (*kFunction)(double)>
void each_by_itself(size_t n, const double* x, double* out) {
  for (size_t i = 0; i < n; ++i) out[i] = kFunction(x[i]);
}
double sigmoid(double x) { return static_cast<double>(ukernel::reference::wide_sigmoid(x)); }

void time_function(bench::Bench& bench, const char* variant, const char* name, Function function) {
  constexpr size_t kCount = 2048;
  const bench::Floats some = bench::some_floats(kCount);
  const std::vector<double> x(some.begin(), some.end());
  std::vector<double> out(kCount);
  bench.time({std::string("wide_math ") + name + " of 2048", variant, 0, 16.0 * kCount},
             [&] { function(kCount, x.data(), out.data()); });
}

}  // namespace

RL_BENCHMARK(wide_math, bench) {
  const Functions reference{"reference",
                            each_by_itself<std::exp>,
                            each_by_itself<std::log>,
                            each_by_itself<std::sin>,
                            each_by_itself<std::atan>,
                            each_by_itself<std::tanh>,
                            each_by_itself<sigmoid>};
  for (const Functions& each : bench::with_reference(variants(), reference)) {
    time_function(bench, each.name, "exp", each.exp);
    time_function(bench, each.name, "log", each.log);
    time_function(bench, each.name, "sin", each.sin);
    time_function(bench, each.name, "atan", each.atan);
    time_function(bench, each.name, "tanh", each.tanh);
    time_function(bench, each.name, "sigmoid", each.sigmoid);
  }
}
