// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/int8_gemm.h"
#include "kernels/ukernel/reference/int8_gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  size_t (*depth)(size_t);
  size_t (*columns)();
  size_t (*rows)();
  size_t (*spread_bytes)();
  size_t (*panel_bytes)(size_t);
  decltype(&ukernel::native::spread_int8) spread;
  decltype(&ukernel::native::pack_int8) pack;
  void (*multiply)(const ukernel::Int8Gemm&);
};
RL_INTEGER_VARIANTS(Gemm, variants, int8_gemm_depth, int8_gemm_columns, int8_gemm_rows, int8_spread_bytes,
                    int8_panel_bytes, spread_int8, pack_int8, multiply_int8_gemm)

std::string sizes(const char* name, size_t rows, size_t columns, size_t depth) {
  return std::string(name) + " " + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
         std::to_string(depth);
}

// A product with a packed right factor, as in a 1 x 1 convolution: some rows are spread, then multiplied with
// each panel.
void time_product(bench::Bench& bench, const Gemm& gemm, size_t rows, size_t columns, size_t depth,
                  ukernel::Rounding rounding) {
  constexpr size_t kRowBlock = 64;
  const bench::Bytes left = bench::some_bytes(rows * depth);
  const bench::Bytes right = bench::some_bytes(columns * depth);
  const bench::Scales scales(columns, depth, rounding);
  const size_t width = gemm.columns();
  const size_t panel_bytes = gemm.panel_bytes(depth);
  const size_t stride = gemm.depth(depth) * gemm.spread_bytes();
  bench::Bytes panels((columns + width - 1) / width * panel_bytes);
  bench::Bytes spread(kRowBlock * stride);
  bench::Bytes out(rows * columns);
  for (size_t column = 0; column < columns; column += width) {
    gemm.pack(panels.data() + column / width * panel_bytes, right.data() + column * depth, 1,
              static_cast<ptrdiff_t>(depth), depth, std::min(width, columns - column));
  }
  const auto product = [&] {
    for (size_t row = 0; row < rows; row += kRowBlock) {
      const size_t count = std::min(kRowBlock, rows - row);
      for (size_t i = 0; i < count; ++i) {
        gemm.spread(spread.data() + i * stride, left.data() + (row + i) * depth, depth);
      }
      for (size_t column = 0; column < columns; column += width) {
        ukernel::Int8Gemm part;
        part.rows = count;
        part.columns = std::min(width, columns - column);
        part.depth = depth;
        part.left = spread.data();
        part.left_stride = static_cast<ptrdiff_t>(stride);
        part.panel = panels.data() + column / width * panel_bytes;
        part.bias = scales.bias() + column;
        part.to = scales.from(column);
        part.out = out.data() + row * columns + column;
        part.out_stride = static_cast<ptrdiff_t>(columns);
        gemm.multiply(part);
      }
    }
  };
  const auto operations = 2.0 * static_cast<double>(rows * columns * depth);
  bench.time({sizes("int8 gemm", rows, columns, depth) + bench::Scales::name(rounding), gemm.name, operations,
              0, true},
             product);
}

void time_spread(bench::Bench& bench, const Gemm& gemm) {
  constexpr size_t kDepth = 256;
  const bench::Bytes from = bench::some_bytes(kDepth);
  bench::Bytes to(gemm.depth(kDepth) * gemm.spread_bytes());
  bench.time({"int8 gemm spread 256", gemm.name, 0, static_cast<double>(kDepth + to.size())},
             [&] { gemm.spread(to.data(), from.data(), kDepth); });
}

void time_pack(bench::Bench& bench, const Gemm& gemm, bool by_columns) {
  constexpr size_t kDepth = 256;
  const size_t width = gemm.columns();
  const bench::Bytes from = bench::some_bytes(kDepth * width);
  bench::Bytes panel(gemm.panel_bytes(kDepth));
  const auto depth_stride = static_cast<ptrdiff_t>(by_columns ? 1 : width);
  const auto column_stride = static_cast<ptrdiff_t>(by_columns ? kDepth : 1);
  bench.time({by_columns ? "int8 gemm pack [n][256]" : "int8 gemm pack [256][n]", gemm.name, 0,
              static_cast<double>(from.size() + panel.size())},
             [&] { gemm.pack(panel.data(), from.data(), depth_stride, column_stride, kDepth, width); });
}

void time_reference(bench::Bench& bench, size_t size) {
  const bench::Bytes left = bench::some_bytes(size * size), right = bench::some_bytes(size * size);
  const bench::Scales scales(size, size, ukernel::Rounding::kSingle);
  bench::Bytes out(size * size);
  ukernel::Int8Gemm product;
  product.rows = product.columns = product.depth = size;
  product.bias = scales.bias();
  product.to = scales.from(0);
  product.out = out.data();
  product.out_stride = static_cast<ptrdiff_t>(size);
  const auto stride = static_cast<ptrdiff_t>(size);
  const auto operations = 2.0 * static_cast<double>(size * size * size);
  bench.time({sizes("int8 gemm", size, size, size) + ", single", "reference", operations, 0, true}, [&] {
    ukernel::reference::multiply_int8_gemm(product, left.data(), stride, right.data(), 1, stride);
  });
}

}  // namespace

RL_BENCHMARK(int8_gemm, bench) {
  constexpr ukernel::Rounding kSingle = ukernel::Rounding::kSingle;
  time_reference(bench, 64);
  for (const Gemm& gemm : variants()) {
    time_product(bench, gemm, 64, 64, 64, kSingle);
    time_product(bench, gemm, 64, 64, 64, ukernel::Rounding::kDouble);
    time_product(bench, gemm, 64, 64, 64, ukernel::Rounding::kFloat);
    // Layers of MobileNet-v1, MobileNetV2 and ResNets.
    time_product(bench, gemm, 3136, 16, 9, kSingle);
    time_product(bench, gemm, 3136, 32, 27, kSingle);
    time_product(bench, gemm, 125, 64, 40, kSingle);
    time_product(bench, gemm, 3136, 24, 96, kSingle);
    time_product(bench, gemm, 3136, 64, 64, kSingle);
    time_product(bench, gemm, 1024, 16, 144, kSingle);
    time_product(bench, gemm, 784, 128, 128, kSingle);
    time_product(bench, gemm, 64, 64, 576, kSingle);
    time_product(bench, gemm, 196, 256, 256, kSingle);
    time_product(bench, gemm, 49, 512, 512, kSingle);
    // Linear layers.
    for (const size_t rows : {1, 2, 4}) time_product(bench, gemm, rows, 512, 512, kSingle);
    time_product(bench, gemm, 1, 12, 64, kSingle);
    time_spread(bench, gemm);
    time_pack(bench, gemm, true);
    time_pack(bench, gemm, false);
  }
}
