// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/transpose_clamp.h"
#include "kernels/ukernel/transpose_clamp.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct TransposeClamp {
  const char* name;
  void (*transpose)(const ukernel::TransposeClamp&);
};
RL_VARIANTS(TransposeClamp, variants, transpose_clamped)

}  // namespace

RL_BENCHMARK(transpose_clamp, bench) {
  constexpr size_t kRows = 96, kColumns = 64;
  const bench::Floats from = bench::some_floats(kRows * kColumns),
                      residual = bench::some_floats(kRows * kColumns);
  bench::Floats to(kRows * kColumns);
  for (const TransposeClamp& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::transpose_clamped})) {
    for (const bool adds : {false, true}) {
      ukernel::TransposeClamp transpose;
      transpose.rows = kRows;
      transpose.columns = kColumns;
      transpose.from = from.data();
      transpose.from_stride = kColumns;
      transpose.to = to.data();
      transpose.to_stride = kRows;
      transpose.residual = adds ? residual.data() : nullptr;
      transpose.low = 0;
      bench.time({adds ? "transpose_clamp 96x64 with residual" : "transpose_clamp 96x64", each.name, 0,
                  (adds ? 12.0 : 8.0) * kRows * kColumns},
                 [&] { each.transpose(transpose); });
    }
  }
}
