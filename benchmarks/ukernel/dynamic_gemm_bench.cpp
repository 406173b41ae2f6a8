// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/dynamic_gemm.h"
#include "kernels/ukernel/reference/dynamic_gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  size_t (*columns)();
  decltype(&ukernel::native::dynamic_panel_bytes) panel_bytes;
  decltype(&ukernel::native::dynamic_row_bytes) row_bytes;
  decltype(&ukernel::native::quantize_dynamic_row) quantize;
  decltype(&ukernel::native::pack_dynamic) pack;
  decltype(&ukernel::native::multiply_dynamic) multiply;
};
RL_INTEGER_VARIANTS(Gemm, variants, dynamic_gemm_columns, dynamic_panel_bytes, dynamic_row_bytes,
                    quantize_dynamic_row, pack_dynamic, multiply_dynamic)

std::string name_of(size_t rows, size_t columns, const ukernel::GroupedForm& form) {
  return "dynamic gemm " + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
         std::to_string(form.groups * form.group) + (form.is_packed ? " of 4 bits" : "") +
         (form.groups > 1 ? " in groups of " + std::to_string(form.group) : "");
}

// A linear layer: rows are quantized, then multiplied with each panel.
void time_layer(bench::Bench& bench, const Gemm& gemm, size_t rows, size_t columns,
                const ukernel::GroupedForm& form) {
  const size_t depth = form.groups * form.group, row_bytes = gemm.row_bytes(form);
  const bench::Bytes numbers = bench::some_bytes(columns * depth);
  const std::vector<float> scales(columns * form.groups, 0.01F), left(rows * depth, 0.5F);
  const ukernel::GroupedWeights weights = {form, numbers.data(),
                                           static_cast<ptrdiff_t>(form.is_packed ? depth / 2 : depth),
                                           scales.data(), static_cast<ptrdiff_t>(form.groups)};
  const size_t width = gemm.columns(), panel_bytes = gemm.panel_bytes(form);
  bench::Bytes panels((columns + width - 1) / width * panel_bytes), quantized(rows * row_bytes);
  std::vector<float> out(rows * columns);
  for (size_t column = 0; column < columns; column += width) {
    gemm.pack(weights.from(column), std::min(width, columns - column),
              panels.data() + column / width * panel_bytes);
  }
  const auto operations = 2.0 * static_cast<double>(rows * columns * depth);
  bench.time({name_of(rows, columns, form), gemm.name, operations, static_cast<double>(panels.size()), true},
             [&] {
               for (size_t i = 0; i < rows; ++i) {
                 gemm.quantize(form, {100, 0.01F, 3, -128, 127, false}, left.data() + i * depth,
                               quantized.data() + i * row_bytes);
               }
               for (size_t column = 0; column < columns; column += width) {
                 ukernel::DynamicGemm product;
                 product.form = form;
                 product.rows = rows;
                 product.columns = std::min(width, columns - column);
                 product.left = quantized.data();
                 product.left_stride = static_cast<ptrdiff_t>(row_bytes);
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
  std::vector<float> out(columns);
  const auto operations = 2.0 * static_cast<double>(columns * depth);
  bench.time({name_of(1, columns, form), "reference", operations, static_cast<double>(numbers.size()), true},
             [&] {
               for (size_t j = 0; j < columns; ++j) {
                 out[j] = ukernel::reference::multiply_dynamic(weights, j, {100, 0.01F, 3, -128, 127, false},
                                                               row.data(), nullptr);
               }
             });
}

}  // namespace

RL_BENCHMARK(dynamic_gemm, bench) {
  for (const Gemm& each : variants()) {
    // Layers of MiniLM and SmolLM2.
    for (const size_t rows : {1, 64}) {
      time_layer(bench, each, rows, 384, {1, 1536, false});
      time_layer(bench, each, rows, 1536, {18, 32, false});
      time_layer(bench, each, rows, 1536, {18, 32, true});
      time_layer(bench, each, rows, 1536, {1, 576, true});
    }
  }
  time_reference(bench, 384, {1, 1536, false});
}
