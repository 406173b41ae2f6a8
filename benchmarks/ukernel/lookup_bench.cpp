// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/lookup.h"
#include "kernels/ukernel/reference/lookup.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Lookup {
  const char* name;
  void (*look_up)(const uint8_t*, size_t, const uint8_t*, uint8_t*);
};
RL_EXACT_VARIANTS(Lookup, variants, look_up_bytes)

}  // namespace

RL_BENCHMARK(lookup, bench) {
  const std::vector<uint8_t> table(256, 3);
  for (const size_t count : {256, 16384}) {
    const std::vector<uint8_t> from(count, 77);
    std::vector<uint8_t> to(count);
    for (const Lookup& each :
         bench::with_reference(variants(), {"reference", ukernel::reference::look_up_bytes})) {
      bench.time({"lookup of " + std::to_string(count), each.name, 0, 2.0 * static_cast<double>(count)},
                 [&] { each.look_up(table.data(), count, from.data(), to.data()); });
    }
  }
}
