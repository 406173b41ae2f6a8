// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/softmax.h"
#include "kernels/ukernel/softmax.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Softmax {
  const char* name;
  void (*run)(size_t, const float*, float*);
};
RL_VARIANTS(Softmax, variants, softmax_span)

void reference_run(size_t n, const float* x, float* y) {
  static double wide[4096];
  ukernel::reference::softmax(false, n, 1, x, wide);
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<float>(wide[i]);
}

}  // namespace

RL_BENCHMARK(softmax, bench) {
  for (const Softmax& each : bench::with_reference(variants(), {"reference", reference_run})) {
    for (const size_t n : {49, 1000}) {
      const bench::Floats x = bench::some_floats(n);
      bench::Floats y(n);
      bench.time({"softmax of " + std::to_string(n), each.name, 0, 8.0 * static_cast<double>(n)},
                 [&] { each.run(n, x.data(), y.data()); });
    }
  }
}
