// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/resample.h"
#include "kernels/ukernel/resample.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Resample {
  const char* name;
  void (*repeat)(const ukernel::RepeatedRows&);
  void (*sum)(size_t, size_t, const float* const*, const float*, float*);
  void (*along)(const ukernel::ResampledRow&);
};
RL_VARIANTS(Resample, variants, resample_repeat, resample_sum, resample_along)

}  // namespace

RL_BENCHMARK(resample, bench) {
  constexpr size_t kCount = 512;
  const bench::Floats a = bench::some_floats(kCount), b = bench::some_floats(kCount);
  bench::Floats out(4 * kCount);
  std::vector<int32_t> first(kCount + ukernel::kResampleSlack);
  for (size_t i = 0; i < kCount; ++i) first[i] = static_cast<int32_t>(i / 2);
  const bench::Floats weights = bench::some_floats(2 * (kCount + ukernel::kResampleSlack));
  const float* const sources[] = {a.data(), b.data()};
  ukernel::ResampledRow along;
  along.n = kCount;
  along.taps = 2;
  along.row = a.data();
  along.first = first.data();
  along.weights = weights.data();
  along.weight_stride = kCount + ukernel::kResampleSlack;
  along.out = out.data();
  ukernel::RepeatedRows rows;
  rows.rows = 1;
  rows.n = kCount;
  rows.down = rows.across = 2;
  rows.from = a.data();
  rows.to = out.data();
  rows.to_stride = 2 * kCount;
  const Resample reference{"reference", ukernel::reference::resample_repeat, ukernel::reference::resample_sum,
                           ukernel::reference::resample_along};
  for (const Resample& each : bench::with_reference(variants(), reference)) {
    bench.time({"resample repeat 512, 2x2 times", each.name, 0, 20.0 * kCount}, [&] { each.repeat(rows); });
    bench.time({"resample sum 512, 2 rows", each.name, 0, 12.0 * kCount},
               [&] { each.sum(kCount, 2, sources, weights.data(), out.data()); });
    bench.time({"resample along 512, 2 taps", each.name, 0, 24.0 * kCount}, [&] { each.along(along); });
  }
}
