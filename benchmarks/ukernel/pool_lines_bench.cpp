// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/pool_lines.h"
#include "kernels/ukernel/reference/pool_lines.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Lines {
  const char* name;
  void (*largest)(const ukernel::PoolLine&, const ukernel::PoolNumbers&);
  void (*average)(const ukernel::PoolLine&, float);
};
RL_NATIVE_VARIANTS(Lines, variants, max_line, average_line)

}  // namespace

// A line of windows of 3 x 3 with stride 2, as small kernels compute it.
RL_BENCHMARK(pool_lines, bench) {
  constexpr size_t kWindows = 24, kWidth = 2 * kWindows + 1;
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  const bench::Floats in = bench::some_floats(3 * kWidth);
  bench::Floats out(kWindows);
  std::vector<int64_t> index(kWindows);
  ukernel::PoolLine line{};
  line.rows = line.columns = 3;
  line.row_stride = kWidth * kBytes;
  line.column_stride = kBytes;
  line.in = reinterpret_cast<const char*>(in.data());
  line.in_step = 2 * kBytes;
  line.out = reinterpret_cast<char*>(out.data());
  line.out_step = kBytes;
  line.count = kWindows;
  const ukernel::PoolNumbers numbers{
      0, kWidth, 1, 2, reinterpret_cast<char*>(index.data()), static_cast<ptrdiff_t>(sizeof(int64_t))};
  const Lines reference{"reference", ukernel::reference::max_line, ukernel::reference::average_line};
  for (const Lines& each : bench::with_reference(variants(), reference)) {
    bench.time({"pool_lines max 3x3 to 24", each.name, 9.0 * kWindows}, [&] { each.largest(line, numbers); });
    bench.time({"pool_lines average 3x3 to 24", each.name, 9.0 * kWindows}, [&] { each.average(line, 9); });
  }
}
