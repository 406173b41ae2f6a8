// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/panel.h"
#include "kernels/ukernel/reference/panel.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Panel {
  const char* name;
  void (*multiply)(const ukernel::PanelProduct&);
};
RL_NATIVE_VARIANTS(Panel, variants, multiply_panel)

}  // namespace

// A product as in small kernels: 64 x 64 x 64, in panels.
RL_BENCHMARK(panel, bench) {
  constexpr size_t kSize = 64, kWidth = ukernel::kPanelColumns;
  const bench::Floats left = bench::some_floats(kSize * kSize),
                      right = bench::some_floats((kSize + kWidth) * kSize);
  bench::Floats out(kSize * kSize);
  for (const Panel& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::multiply_panel})) {
    bench.time({"panel product 64x64x64", each.name, 2.0 * kSize * kSize * kSize}, [&] {
      for (size_t column = 0; column < kSize; column += kWidth) {
        const size_t columns = kSize - column < kWidth ? kSize - column : kWidth;
        each.multiply({left.data(), kSize, right.data() + column * kSize, kSize, kSize, out.data() + column,
                       kSize, 1, columns});
      }
    });
  }
}
