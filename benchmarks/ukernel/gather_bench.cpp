// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/gather.h"
#include "kernels/ukernel/reference/gather.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gather {
  const char* name;
  void (*rows)(const ukernel::GatherRows&);
};
RL_VARIANTS(Gather, variants, gather_rows)

}  // namespace

// 28 rows of 56 pixels of an image, with a border of one.
RL_BENCHMARK(gather, bench) {
  constexpr size_t kRows = 28, kWidth = 56, kMostStep = 2;
  const bench::Floats image = bench::some_floats(kRows * kWidth * kMostStep);
  bench::Floats rows(kRows * (kWidth + 2));
  for (const Gather& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::gather_rows})) {
    for (const size_t step : {1, 2}) {
      ukernel::GatherRows gather;
      gather.rows = kRows;
      gather.before = gather.after = 1;
      gather.count = kWidth;
      gather.from = image.data();
      gather.step = static_cast<ptrdiff_t>(step);
      gather.from_stride = static_cast<ptrdiff_t>(kWidth * step);
      gather.to = rows.data();
      gather.to_stride = kWidth + 2;
      bench.time({"gather 28x56, step " + std::to_string(step), each.name, 0, 8.0 * kRows * kWidth},
                 [&] { each.rows(gather); });
    }
  }
}
