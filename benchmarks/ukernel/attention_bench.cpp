// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/attention.h"
#include "kernels/ukernel/reference/attention.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Attention {
  const char* name;
  float (*weights)(size_t, float*, float, const float*, float*, float*);
  void (*scores)(size_t, size_t, const float*, const float*, ptrdiff_t, float*);
};
RL_VARIANTS(Attention, variants, attention_weights, attention_scores)

}  // namespace

RL_BENCHMARK(attention, bench) {
  constexpr size_t kKeys = 128, kDepth = 32;
  const bench::Floats keys = bench::some_floats(kKeys * kDepth), query = bench::some_floats(kDepth);
  const bench::Floats some = bench::some_floats(kKeys);
  bench::Floats scores(kKeys);
  const Attention reference{"reference", ukernel::reference::attention_weights,
                            ukernel::reference::attention_scores};
  for (const Attention& each : bench::with_reference(variants(), reference)) {
    bench.time({"attention scores, 128 keys of 32", each.name, 2.0 * kKeys * kDepth},
               [&] { each.scores(kKeys, kDepth, query.data(), keys.data(), kDepth, scores.data()); });
    bench.time({"attention weights of 128", each.name, 0, 8.0 * kKeys}, [&] {
      scores = some;
      float shift = -HUGE_VALF, sum = 0;
      each.weights(kKeys, scores.data(), 0.2f, nullptr, &shift, &sum);
    });
  }
}
