// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/block_gemm.h"
#include "kernels/ukernel/reference/block_gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  decltype(&ukernel::native::block_row_bytes) row_bytes;
  decltype(&ukernel::native::quantize_block_row) quantize;
  decltype(&ukernel::native::multiply_blocks) multiply;
};
RL_INTEGER_VARIANTS(Gemm, variants, block_row_bytes, quantize_block_row, multiply_blocks)

std::string name_of(size_t rows, size_t features, const ukernel::BlockForm& form) {
  return "block gemm " + std::to_string(rows) + "x" + std::to_string(features) + "x" +
         std::to_string(form.depth) + (form.is_byte ? " of 8 bits" : " of 4 bits") +
         (form.has_minimum ? " with minimums" : "") + (form.is_narrow ? ", narrow" : "");
}

// A linear layer: rows are quantized, then multiplied with each panel.
void time_layer(bench::Bench& bench, const Gemm& gemm, size_t rows, size_t features,
                const ukernel::BlockForm& form) {
  const size_t panels = (features + ukernel::kBlockFeatures - 1) / ukernel::kBlockFeatures;
  const bench::Bytes weights = bench::some_bytes(panels * form.panel_bytes());
  const std::vector<float> left(rows * form.depth, 0.5F);
  const size_t row_bytes = gemm.row_bytes(form);
  bench::Bytes quantized(rows * row_bytes);
  std::vector<float> out(rows * features);
  const auto operations = 2.0 * static_cast<double>(rows * features * form.depth);
  bench.time(
      {name_of(rows, features, form), gemm.name, operations, static_cast<double>(weights.size()), true}, [&] {
        for (size_t i = 0; i < rows; ++i) {
          gemm.quantize(form, left.data() + i * form.depth, quantized.data() + i * row_bytes);
        }
        for (size_t panel = 0; panel < panels; ++panel) {
          const size_t feature = panel * ukernel::kBlockFeatures;
          ukernel::BlockGemm product;
          product.form = form;
          product.rows = rows;
          product.features = std::min(ukernel::kBlockFeatures, features - feature);
          product.left = quantized.data();
          product.left_stride = row_bytes;
          product.panel = weights.data() + panel * form.panel_bytes();
          product.out = out.data() + feature;
          product.out_stride = static_cast<ptrdiff_t>(features);
          gemm.multiply(product);
        }
      });
}

// One row, by the reference.
void time_reference(bench::Bench& bench, size_t features, const ukernel::BlockForm& form) {
  const bench::Bytes weights = bench::some_bytes(form.panel_bytes());
  const std::vector<float> row(form.depth, 0.5F);
  std::vector<float> out(features);
  const auto operations = 2.0 * static_cast<double>(features * form.depth);
  bench.time({name_of(1, features, form), "reference", operations, static_cast<double>(weights.size()), true},
             [&] {
               for (size_t j = 0; j < features; ++j) {
                 out[j] = ukernel::reference::multiply_blocks(form, weights.data(), j, row.data());
               }
             });
}

}  // namespace

RL_BENCHMARK(block_gemm, bench) {
  // Layers of SmolLM2: Q4_1 and Q8_0, and symmetric 4 bits.
  const ukernel::BlockForm forms[] = {{576, 32, false, false, true, false},
                                      {1536, 32, false, false, true, false},
                                      {576, 32, false, false, false, false},
                                      {576, 32, false, false, false, true},
                                      {576, 32, true, false, false, false}};
  for (const Gemm& each : variants()) {
    for (const size_t rows : {1, 64}) {
      for (const ukernel::BlockForm& form : forms) time_layer(bench, each, rows, 1536, form);
    }
  }
  time_reference(bench, 16, forms[0]);
}
