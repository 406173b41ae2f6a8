// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/int8_product.h"
#include "kernels/ukernel/reference/int8_product.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Product {
  const char* name;
  void (*multiply)(const ukernel::Int8Product&);
  void (*multiply_row)(const ukernel::Int8Row&);
};
RL_NATIVE_VARIANTS(Product, variants, multiply_int8, multiply_int8_row)

void time_row(bench::Bench& bench, const Product& each, size_t columns, size_t depth) {
  const bench::Bytes left = bench::some_bytes(depth), right = bench::some_bytes(columns * depth);
  std::vector<int32_t> sums(columns);
  const ukernel::Int8Row row = {columns,    depth, left.data(), right.data(), static_cast<ptrdiff_t>(depth),
                                sums.data()};
  const std::string name = "int8 sums of a row " + std::to_string(columns) + "x" + std::to_string(depth);
  bench.time({name, each.name, 2.0 * static_cast<double>(columns * depth), 0, true},
             [&] { each.multiply_row(row); });
}

// Rows of one part, or of several parts as in a convolution along a row of pixels with `step` channels.
void time_product(bench::Bench& bench, const Product& each, size_t rows, size_t columns, size_t depth,
                  ukernel::Rounding rounding, size_t parts = 1, size_t step = 0) {
  if (step == 0) step = depth;
  const size_t part = (rows - 1) * step + depth, all = parts * depth;
  const bench::Bytes left = bench::some_bytes(parts * part), right = bench::some_bytes(columns * all);
  const bench::Scales scales(columns, all, rounding);
  bench::Bytes out(rows * columns);
  ukernel::Int8Product product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.left = left.data();
  product.left_stride = static_cast<ptrdiff_t>(step);
  product.parts = parts;
  product.part_stride = static_cast<ptrdiff_t>(part);
  product.right = right.data();
  product.right_stride = static_cast<ptrdiff_t>(all);
  product.bias = scales.bias();
  product.to = scales.from(0);
  product.out = out.data();
  product.out_stride = static_cast<ptrdiff_t>(columns);
  const std::string name = "int8 product " + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
                           (parts > 1 ? std::to_string(parts) + "*" : "") + std::to_string(depth) +
                           bench::Scales::name(rounding);
  bench.time({name, each.name, 2.0 * static_cast<double>(rows * columns * all), 0, true},
             [&] { each.multiply(product); });
}

}  // namespace

RL_BENCHMARK(int8_product, bench) {
  constexpr ukernel::Rounding kSingle = ukernel::Rounding::kSingle;
  for (const Product& each : bench::with_reference(
           variants(),
           {"reference", ukernel::reference::multiply_int8, ukernel::reference::multiply_int8_row})) {
    // Layers of DS-CNN, ResNet-8 and MobileNet-v1-0.25.
    time_product(bench, each, 125, 64, 64, kSingle);
    time_product(bench, each, 125, 64, 64, ukernel::Rounding::kDouble);
    time_product(bench, each, 125, 64, 64, ukernel::Rounding::kFloat);
    time_product(bench, each, 125, 64, 40, kSingle);
    time_product(bench, each, 1, 12, 64, kSingle);
    time_product(bench, each, 64, 16, 27, kSingle);
    time_product(bench, each, 64, 32, 144, kSingle);
    time_product(bench, each, 64, 64, 576, kSingle);
    time_product(bench, each, 36, 16, 8, kSingle);
    time_row(bench, each, 32, 32);  // a recurrent layer
    if (!ukernel::kInt8ProductParts) continue;
    time_product(bench, each, 32, 16, 9, kSingle, 3, 3);
    time_product(bench, each, 32, 16, 48, kSingle, 3, 16);
    time_product(bench, each, 8, 64, 192, kSingle, 3, 64);
  }
}
