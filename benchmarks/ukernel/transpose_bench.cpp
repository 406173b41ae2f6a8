// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/transpose.h"
#include "kernels/ukernel/transpose.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Transpose {
  const char* name;
  void (*transpose)(size_t, size_t, size_t, const char*, ptrdiff_t, char*, ptrdiff_t);
};
RL_VARIANTS(Transpose, variants, transpose)

}  // namespace

RL_BENCHMARK(transpose, bench) {
  for (const Transpose& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::transpose})) {
    for (const size_t element : {1, 4}) {
      constexpr size_t kRows = 96, kColumns = 64;
      const bench::Floats from = bench::some_floats(kRows * kColumns);
      bench::Floats to(kRows * kColumns);
      const std::string name = "transpose 96x64 of " + std::to_string(element) + " bytes";
      bench.time({name, each.name, 0, 2.0 * kRows * kColumns * double(element)}, [&] {
        each.transpose(kRows, kColumns, element, reinterpret_cast<const char*>(from.data()),
                       static_cast<ptrdiff_t>(kColumns * element), reinterpret_cast<char*>(to.data()),
                       static_cast<ptrdiff_t>(kRows * element));
      });
    }
  }
}
