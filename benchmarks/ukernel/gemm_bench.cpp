// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/reference/gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  size_t (*rows)();
  size_t (*columns)();
  size_t (*lanes)();
  void (*tile)(const ukernel::GemmTile&);
  void (*strip)(const ukernel::GemmStrip&);
  void (*row)(size_t, size_t, const float*, const float*, ptrdiff_t, bool, float*);
  void (*pack)(float*, const float*, ptrdiff_t, ptrdiff_t, size_t, size_t, size_t);
};
RL_VARIANTS(Gemm, variants, gemm_rows, gemm_columns, gemm_lanes, gemm_tile, gemm_strip, gemm_row, gemm_pack)

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

// A 1 x 1 convolution: a row is a pixel, weights are packed. With a residual, which may be fused.
void time_strip(bench::Bench& bench, const Gemm& gemm, size_t rows, size_t columns, size_t depth,
                bool with_residual = false) {
  const bench::Floats a = bench::some_floats(rows * depth);
  const bench::Floats b = bench::some_floats(depth * (columns + gemm.columns()));
  const bench::Floats residual = bench::some_floats(rows * columns);
  bench::Floats c(rows * columns);
  const auto strips = [&] {
    for (size_t column = 0; column < columns; column += gemm.columns()) {
      const float* pixels = a.data();
      const float* panel = b.data() + column * depth;
      ukernel::GemmStrip strip;
      strip.rows = rows;
      strip.columns = std::min(gemm.columns(), columns - column);
      strip.depth = depth;
      strip.a = &pixels;
      strip.a_stride = static_cast<ptrdiff_t>(depth);
      strip.b = &panel;
      strip.b_stride =
          static_cast<ptrdiff_t>((strip.columns + gemm.lanes() - 1) / gemm.lanes() * gemm.lanes());
      strip.c = c.data() + column;
      strip.c_stride = static_cast<ptrdiff_t>(columns);
      if (with_residual) strip.residual = residual.data() + column;
      strip.residual_stride = strip.c_stride;
      gemm.strip(strip);
    }
  };
  bench.time({sizes(with_residual ? "gemm strip and residual" : "gemm strip", rows, columns, depth),
              gemm.name, 2.0 * static_cast<double>(rows * columns * depth)},
             strips);
}

// One row by all panels of a packed B.
void time_row(bench::Bench& bench, const Gemm& gemm, size_t columns, size_t depth) {
  const size_t panels = columns / gemm.columns();
  const bench::Floats a = bench::some_floats(depth);
  const bench::Floats b = bench::some_floats(depth * columns);
  bench::Floats c(columns);
  bench.time({sizes("gemm row", 1, columns, depth), gemm.name, 2.0 * static_cast<double>(columns * depth)},
             [&] {
               gemm.row(panels, depth, a.data(), b.data(), static_cast<ptrdiff_t>(depth * gemm.columns()),
                        false, c.data());
             });
}

// A whole product with a packed B: panel by panel, in blocks.
void time_product(bench::Bench& bench, const Gemm& gemm, size_t size) {
  const size_t width = gemm.columns();
  const size_t block = (size_t{1} << 16) / sizeof(float) / width;
  constexpr size_t kRowBlock = 96;  // whose A stays in the L2 cache
  const size_t parts = (size + kRowBlock - 1) / kRowBlock;
  const size_t blocks = (size + block - 1) / block;
  const bench::Floats a = bench::some_floats(size * size);
  const bench::Floats b = bench::some_floats((size + width) * size);
  bench::Floats c(size * size);
  const auto product = [&] {
    for (size_t part = 0; part < parts * blocks; ++part) {
      const size_t depth = part / parts * block;
      const size_t row = part % parts * kRowBlock;
      for (size_t column = 0; column < size; column += width) {
        const float* first = a.data() + row * size + depth;
        const float* panel = b.data() + column * size + depth * width;
        ukernel::GemmStrip strip;
        strip.rows = std::min(kRowBlock, size - row);
        strip.columns = std::min(width, size - column);
        strip.depth = std::min(block, size - depth);
        strip.a = &first;
        strip.a_stride = static_cast<ptrdiff_t>(size);
        strip.b = &panel;
        strip.b_stride = static_cast<ptrdiff_t>(width);
        strip.c = c.data() + row * size + column;
        strip.c_stride = static_cast<ptrdiff_t>(size);
        strip.adds_to_c = depth != 0;
        gemm.strip(strip);
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
      [&] { gemm.pack(panel.data(), b.data(), row, column, kDepth, width, width); });
}

// One tile with an unpacked B, by the reference.
void time_reference(bench::Bench& bench, size_t size) {
  const bench::Floats a = bench::some_floats(size * size), b = bench::some_floats(size * size);
  bench::Floats c(size * size);
  std::vector<const float*> lines;
  for (size_t i = 0; i < size; ++i) lines.push_back(a.data() + i * size);
  ukernel::GemmTile tile;
  tile.rows = tile.columns = tile.depth = tile.b_columns = size;
  tile.a = lines.data();
  tile.b = b.data();
  tile.c = c.data();
  tile.b_stride = tile.c_stride = static_cast<ptrdiff_t>(size);
  bench.time(
      {sizes("gemm product", size, size, size), "reference", 2.0 * static_cast<double>(size * size * size)},
      [&] { ukernel::reference::gemm_tile(tile); });
}

}  // namespace

RL_BENCHMARK(gemm, bench) {
  for (const size_t size : {64, 256}) time_reference(bench, size);
  for (const Gemm& gemm : variants()) {
    for (const size_t depth : {32, 256}) time_tile(bench, gemm, gemm.rows(), gemm.columns(), depth);
    time_tile(bench, gemm, 1, gemm.columns(), 256);
    time_tile(bench, gemm, gemm.rows(), gemm.columns() / 2 + 1, 256);
    // Layers of MobileNetV2.
    time_strip(bench, gemm, 12544, 16, 32);
    time_strip(bench, gemm, 3136, 24, 96);
    time_strip(bench, gemm, 3136, 24, 144, true);
    time_strip(bench, gemm, 3136, 144, 24);
    time_strip(bench, gemm, 784, 192, 32);
    time_strip(bench, gemm, 196, 64, 384);
    time_strip(bench, gemm, 196, 64, 384, true);
    time_strip(bench, gemm, 49, 160, 960);
    time_strip(bench, gemm, 49, 960, 160);
    // Recurrent layers of 64 and 128 units.
    time_row(bench, gemm, 256, 64);
    time_row(bench, gemm, 512, 128);
    for (const size_t size : {64, 256, 512, 1024}) time_product(bench, gemm, size);
    time_pack(bench, gemm, false);
    time_pack(bench, gemm, true);
  }
}
