// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/mixed_gemm.h"
#include "kernels/ukernel/reference/mixed_gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  size_t (*columns)();
  decltype(&ukernel::native::mixed_panel_bytes) panel_bytes;
  decltype(&ukernel::native::pack_mixed) pack;
  decltype(&ukernel::native::multiply_mixed) multiply;
};
RL_VARIANTS(Gemm, variants, mixed_gemm_columns, mixed_panel_bytes, pack_mixed, multiply_mixed)

std::string name_of(size_t rows, size_t columns, const ukernel::GroupedForm& form) {
  return "mixed gemm " + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
         std::to_string(form.groups * form.group) + (form.is_packed ? " of 4 bits" : "") +
         (form.groups > 1 ? " in groups of " + std::to_string(form.group) : "");
}

void time_layer(bench::Bench& bench, const Gemm& gemm, size_t rows, size_t columns,
                const ukernel::GroupedForm& form) {
  const size_t depth = form.groups * form.group;
  const bench::Bytes numbers = bench::some_bytes(columns * depth);
  const std::vector<float> scales(columns * form.groups, 0.01F), left(rows * depth, 0.5F);
  const ukernel::GroupedWeights weights = {form, numbers.data(),
                                           static_cast<ptrdiff_t>(form.is_packed ? depth / 2 : depth),
                                           scales.data(), static_cast<ptrdiff_t>(form.groups)};
  const size_t width = gemm.columns(), panel_bytes = gemm.panel_bytes(form);
  bench::Bytes panels((columns + width - 1) / width * panel_bytes);
  std::vector<float> out(rows * columns);
  for (size_t column = 0; column < columns; column += width) {
    gemm.pack(weights.from(column), std::min(width, columns - column),
              panels.data() + column / width * panel_bytes);
  }
  const auto operations = 2.0 * static_cast<double>(rows * columns * depth);
  bench.time({name_of(rows, columns, form), gemm.name, operations, static_cast<double>(panels.size())}, [&] {
    for (size_t column = 0; column < columns; column += width) {
      ukernel::MixedGemm product;
      product.form = form;
      product.rows = rows;
      product.columns = std::min(width, columns - column);
      product.left = left.data();
      product.left_stride = static_cast<ptrdiff_t>(depth);
      product.panel = panels.data() + column / width * panel_bytes;
      product.out = out.data() + column;
      product.out_stride = static_cast<ptrdiff_t>(columns);
      gemm.multiply(product);
    }
  });
}

// One row, by the reference.
void time_reference(bench::Bench& bench, size_t columns, const ukernel::GroupedForm& form) {
  const size_t depth = form.groups * form.group;
  const bench::Bytes numbers = bench::some_bytes(columns * depth);
  const std::vector<float> scales(columns * form.groups, 0.01F), row(depth, 0.5F);
  const ukernel::GroupedWeights weights = {form, numbers.data(), static_cast<ptrdiff_t>(depth), scales.data(),
                                           static_cast<ptrdiff_t>(form.groups)};
  std::vector<double> out(columns);
  double size = 0;
  const auto operations = 2.0 * static_cast<double>(columns * depth);
  bench.time({name_of(1, columns, form), "reference", operations, static_cast<double>(numbers.size())}, [&] {
    for (size_t j = 0; j < columns; ++j) {
      out[j] = ukernel::reference::multiply_mixed(weights, j, row.data(), nullptr, &size);
    }
  });
}

}  // namespace

RL_BENCHMARK(mixed_gemm, bench) {
  for (const Gemm& each : variants()) {
    for (const size_t rows : {1, 64}) {
      time_layer(bench, each, rows, 384, {1, 1536, false});
      time_layer(bench, each, rows, 1536, {18, 32, true});
      time_layer(bench, each, rows, 1536, {1, 576, true});
    }
  }
  time_reference(bench, 384, {1, 1536, false});
}
