// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/gemm.h"
#include "tests/kernels/ukernel/runs_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  size_t (*rows)();
  size_t (*columns)();
  void (*tile)(const ukernel::GemmTile&);
  void (*pack)(float*, const float*, ptrdiff_t, ptrdiff_t, size_t, size_t);
};
RL_VARIANTS(Gemm, variants, gemm_rows, gemm_columns, gemm_tile, gemm_pack)

std::string sizes(const char* name, size_t m, size_t n, size_t k) {
  return std::string(name) + " " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

void time_tile(bench::Bench& bench, const Gemm& gemm, size_t rows, size_t columns, size_t depth) {
  const bench::Floats a = bench::some_floats(rows * depth);
  const bench::Floats b = bench::some_floats(depth * gemm.columns());
  bench::Floats c(rows * gemm.columns());
  std::vector<const float*> lines;
  for (size_t i = 0; i < rows; ++i) lines.push_back(a.data() + i * depth);
  ukernel::GemmTile tile;
  tile.rows = rows;
  tile.columns = columns;
  tile.depth = depth;
  tile.a = lines.data();
  tile.b = b.data();
  tile.b_stride = static_cast<ptrdiff_t>(gemm.columns());
  tile.b_columns = gemm.columns();
  tile.c = c.data();
  tile.c_stride = tile.b_stride;
  const auto flops = 2.0 * static_cast<double>(rows * columns * depth);
  bench.time({sizes("gemm tile", rows, columns, depth), gemm.name, flops}, [&] { gemm.tile(tile); });
}

// A whole product, of a constant B in panels: row by row of tiles, in blocks of the depth.
void time_product(bench::Bench& bench, const Gemm& gemm, size_t size) {
  constexpr size_t kBlock = 512;
  const size_t width = gemm.columns();
  const bench::Floats a = bench::some_floats(size * size);
  const bench::Floats b = bench::some_floats((size + width) * size);
  bench::Floats c(size * size);
  const auto product = [&] {
    for (size_t depth = 0; depth < size; depth += kBlock) {
      for (size_t row = 0; row < size; row += gemm.rows()) {
        const float* lines[16];
        ukernel::GemmTile tile;
        tile.rows = std::min(gemm.rows(), size - row);
        for (size_t i = 0; i < tile.rows; ++i) lines[i] = a.data() + (row + i) * size + depth;
        tile.depth = std::min(kBlock, size - depth);
        tile.a = lines;
        tile.b_stride = static_cast<ptrdiff_t>(width);
        tile.b_columns = width;
        tile.c_stride = static_cast<ptrdiff_t>(size);
        tile.adds_to_c = depth != 0;
        for (size_t column = 0; column < size; column += width) {
          tile.columns = std::min(width, size - column);
          tile.b = b.data() + column * size + depth * width;
          tile.c = c.data() + row * size + column;
          gemm.tile(tile);
        }
      }
    }
  };
  bench.time(
      {sizes("gemm product", size, size, size), gemm.name, 2.0 * static_cast<double>(size * size * size)},
      product);
}

void time_pack(bench::Bench& bench, const Gemm& gemm, bool transposed) {
  constexpr size_t kDepth = 256;
  const size_t width = gemm.columns();
  const bench::Floats b = bench::some_floats(kDepth * width);
  bench::Floats panel(kDepth * width);
  const ptrdiff_t row = transposed ? 1 : static_cast<ptrdiff_t>(width);
  const ptrdiff_t column = transposed ? static_cast<ptrdiff_t>(kDepth) : 1;
  bench.time(
      {transposed ? "gemm pack [n][256]" : "gemm pack [256][n]", gemm.name, 0, 8.0 * kDepth * double(width)},
      [&] { gemm.pack(panel.data(), b.data(), row, column, kDepth, width); });
}

}  // namespace

RL_BENCHMARK(gemm, bench) {
  for (const Gemm& gemm : variants()) {
    for (const size_t depth : {32, 256}) time_tile(bench, gemm, gemm.rows(), gemm.columns(), depth);
    time_tile(bench, gemm, 1, gemm.columns(), 256);
    time_tile(bench, gemm, gemm.rows(), gemm.columns() / 2 + 1, 256);
    for (const size_t size : {64, 256, 512, 1024}) time_product(bench, gemm, size);
    time_pack(bench, gemm, false);
    time_pack(bench, gemm, true);
  }
}
