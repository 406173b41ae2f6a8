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
  void (*blend)(size_t, const float*, const float*, float, float*);
  void (*between)(size_t, const float*, const int32_t*, const int32_t*, const float*, float*);
};
RL_VARIANTS(Resample, variants, resample_repeat, resample_blend, resample_between)

}  // namespace

RL_BENCHMARK(resample, bench) {
  constexpr size_t kCount = 512;
  const bench::Floats a = bench::some_floats(kCount), b = bench::some_floats(kCount);
  bench::Floats out(4 * kCount);
  std::vector<int32_t> first(kCount), second(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    first[i] = static_cast<int32_t>(i / 2);
    second[i] = first[i] + 1;
  }
  ukernel::RepeatedRows rows;
  rows.rows = 1;
  rows.n = kCount;
  rows.down = rows.across = 2;
  rows.from = a.data();
  rows.to = out.data();
  rows.to_stride = 2 * kCount;
  const Resample reference{"reference", ukernel::reference::resample_repeat,
                           ukernel::reference::resample_blend, ukernel::reference::resample_between};
  for (const Resample& each : bench::with_reference(variants(), reference)) {
    bench.time({"resample repeat 512, 2x2 times", each.name, 0, 20.0 * kCount}, [&] { each.repeat(rows); });
    bench.time({"resample blend 512", each.name, 0, 12.0 * kCount},
               [&] { each.blend(kCount, a.data(), b.data(), 0.3f, out.data()); });
    bench.time({"resample between 512", each.name, 0, 24.0 * kCount},
               [&] { each.between(kCount, a.data(), first.data(), second.data(), b.data(), out.data()); });
  }
}
