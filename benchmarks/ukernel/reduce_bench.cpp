// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reduce.h"
#include "kernels/ukernel/reference/reduce.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Reduce {
  const char* name;
  float (*sum)(size_t, const float*);
  float (*largest)(size_t, const float*);
};
RL_VARIANTS(Reduce, variants, sum_span, max_span)

float reference_sum(size_t n, const float* x) { return static_cast<float>(ukernel::reference::sum(n, 1, x)); }
float reference_largest(size_t n, const float* x) { return x[ukernel::reference::best(true, n, 1, x)]; }

}  // namespace

RL_BENCHMARK(reduce, bench) {
  constexpr size_t kCount = 4000;
  const bench::Floats x = bench::some_floats(kCount);
  volatile float result = 0;
  for (const Reduce& each :
       bench::with_reference(variants(), {"reference", reference_sum, reference_largest})) {
    bench.time({"reduce sum of 4000", each.name, 0, 4.0 * kCount},
               [&] { result = each.sum(kCount, x.data()); });
    bench.time({"reduce max of 4000", each.name, 0, 4.0 * kCount},
               [&] { result = each.largest(kCount, x.data()); });
  }
}
