// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/interleave.h"
#include "kernels/ukernel/reference/interleave.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Interleave {
  const char* name;
  void (*interleave)(size_t, size_t, const float*, ptrdiff_t, float*);
};
RL_VARIANTS(Interleave, variants, interleave)

}  // namespace

RL_BENCHMARK(interleave, bench) {
  constexpr size_t kCount = 1024;
  const bench::Floats planes = bench::some_floats(ukernel::kInterleavedPlanes * kCount);
  bench::Floats to(ukernel::kInterleavedPlanes * kCount);
  for (const Interleave& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::interleave})) {
    for (const size_t count : {2, 3, 4}) {
      bench.time({"interleave " + std::to_string(count) + " planes of 1024", each.name, 0,
                  8.0 * static_cast<double>(count) * kCount},
                 [&] { each.interleave(kCount, count, planes.data(), kCount, to.data()); });
    }
  }
}
