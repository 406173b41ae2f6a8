// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/spans.h"
#include "kernels/ukernel/spans.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Spans {
  const char* name;
  void (*copy)(float*, const float*, size_t);
  void (*scale)(float*, const float*, size_t, float, float);
  void (*rectify)(float*, const float*, size_t);
  void (*add)(float*, const float*, const float*, size_t);
  float (*sum)(const float*, size_t);
  void (*add_rows)(float*, const float*, ptrdiff_t, size_t, size_t);
};
RL_NATIVE_VARIANTS(Spans, variants, copy_span, scale_span, rectify_span, add_span, sum_span, add_rows)

}  // namespace

RL_BENCHMARK(spans, bench) {
  constexpr size_t kCount = 256;
  const bench::Floats a = bench::some_floats(kCount), b = bench::some_floats(kCount);
  bench::Floats to(kCount);
  const Spans reference{"reference",
                        ukernel::reference::copy_span,
                        ukernel::reference::scale_span,
                        ukernel::reference::rectify_span,
                        ukernel::reference::add_span,
                        ukernel::reference::sum_span,
                        ukernel::reference::add_rows};
  for (const Spans& each : bench::with_reference(variants(), reference)) {
    bench.time({"spans copy 256", each.name, 0, 8.0 * kCount},
               [&] { each.copy(to.data(), a.data(), kCount); });
    bench.time({"spans scale 256", each.name, 0, 8.0 * kCount},
               [&] { each.scale(to.data(), a.data(), kCount, 2.0f, 0.5f); });
    bench.time({"spans rectify 256", each.name, 0, 8.0 * kCount},
               [&] { each.rectify(to.data(), a.data(), kCount); });
    bench.time({"spans add 256", each.name, 0, 12.0 * kCount},
               [&] { each.add(to.data(), a.data(), b.data(), kCount); });
    bench.time({"spans sum 256", each.name, 1.0 * kCount}, [&] { to[0] = each.sum(a.data(), kCount); });
    bench.time({"spans add 16 rows of 16", each.name, 1.0 * kCount},
               [&] { each.add_rows(to.data(), a.data(), 16, 16, 16); });
  }
}
