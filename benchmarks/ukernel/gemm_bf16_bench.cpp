// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/reference/gemm_bf16.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  size_t (*columns)();
  void (*tile)(const ukernel::GemmTileBf16&);
};
RL_BFLOAT16_VARIANTS(Gemm, variants, gemm_columns_bf16, gemm_tile_bf16)

}  // namespace

RL_BENCHMARK(gemm_bf16, bench) {
  const size_t width = ukernel::gemm_columns_bf16();
  for (const Gemm& gemm : bench::with_reference(
           variants(), {"reference", ukernel::gemm_columns_bf16, ukernel::reference::gemm_tile_bf16})) {
    for (const size_t rows : {size_t{1}, ukernel::gemm_rows()}) {
      for (const size_t depth : {32, 256}) {
        const std::vector<uint16_t> a(rows * depth);
        const std::vector<uint16_t> b(depth * width);
        std::vector<float> c(rows * width);
        std::vector<const uint16_t*> lines;
        for (size_t i = 0; i < rows; ++i) lines.push_back(a.data() + i * depth);
        ukernel::GemmTileBf16 tile;
        tile.rows = rows;
        tile.columns = gemm.columns();
        tile.depth = depth;
        tile.a = lines.data();
        tile.b = b.data();
        tile.b_stride = static_cast<ptrdiff_t>(2 * gemm.columns());
        tile.b_columns = gemm.columns();
        tile.c = c.data();
        tile.c_stride = static_cast<ptrdiff_t>(width);
        const std::string name =
            "gemm bf16 " + std::to_string(rows) + "x" + std::to_string(width) + "x" + std::to_string(depth);
        bench.time({name, gemm.name, 2.0 * static_cast<double>(rows * gemm.columns() * depth)},
                   [&] { gemm.tile(tile); });
      }
    }
  }
}
