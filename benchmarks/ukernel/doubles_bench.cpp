// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/doubles.h"
#include "kernels/ukernel/reference/doubles.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Doubles {
  const char* name;
  double (*sum)(size_t, const double*);
  void (*softmax)(size_t, const double*, double*);
};
RL_VARIANTS(Doubles, variants, sum_span_f64, softmax_span_f64)

double reference_sum(size_t n, const double* x) {
  return static_cast<double>(ukernel::reference::sum_f64(n, 1, x));
}
void reference_softmax(size_t n, const double* x, double* y) {
  const auto expected = ukernel::reference::softmax_f64(false, n, 1, x);
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<double>(expected[i]);
}

}  // namespace

RL_BENCHMARK(doubles, bench) {
  constexpr size_t kCount = 1024;
  const std::vector<double> x(kCount, 0.5);
  std::vector<double> y(kCount);
  for (const Doubles& each :
       bench::with_reference(variants(), {"reference", reference_sum, reference_softmax})) {
    bench.time({"sum f64 1024", each.name, 0, 8.0 * kCount}, [&] { y[0] = each.sum(kCount, x.data()); });
    bench.time({"softmax f64 1024", each.name, 0, 16.0 * kCount},
               [&] { each.softmax(kCount, x.data(), y.data()); });
  }
}
