// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/int16_product.h"
#include "kernels/ukernel/reference/int16_product.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Product {
  const char* name;
  void (*multiply)(const ukernel::Int16Product&);
};
RL_INTEGER_VARIANTS(Product, variants, multiply_int16)

void time_product(bench::Bench& bench, const Product& each, size_t rows, size_t columns, size_t depth) {
  const std::vector<int16_t> left(rows * depth, 321);
  const bench::Bytes right = bench::some_bytes(columns * depth);
  const bench::Scales scales(columns, depth, ukernel::Rounding::kSingle);
  const std::vector<int64_t> bias(columns, 1000);
  std::vector<int16_t> out(rows * columns);
  ukernel::Int16Product product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.left = left.data();
  product.left_stride = static_cast<ptrdiff_t>(depth);
  product.right = right.data();
  product.right_stride = static_cast<ptrdiff_t>(depth);
  product.bias = bias.data();
  product.to = scales.from(0);
  product.to.zero_point = 0;
  product.to.low = INT16_MIN;
  product.to.high = INT16_MAX;
  product.out = out.data();
  product.out_stride = static_cast<ptrdiff_t>(columns);
  const std::string name =
      "int16 product " + std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(depth);
  bench.time({name, each.name, 2.0 * static_cast<double>(rows * columns * depth), 0, true},
             [&] { each.multiply(product); });
}

}  // namespace

RL_BENCHMARK(int16_product, bench) {
  for (const Product& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::multiply_int16})) {
    // Layers of DS-CNN, ResNet-8 and MobileNet-v1-0.25.
    time_product(bench, each, 125, 64, 64);
    time_product(bench, each, 125, 64, 40);
    time_product(bench, each, 1, 12, 64);
    time_product(bench, each, 64, 16, 27);
    time_product(bench, each, 64, 32, 144);
    time_product(bench, each, 64, 64, 576);
    time_product(bench, each, 36, 16, 8);
  }
}
