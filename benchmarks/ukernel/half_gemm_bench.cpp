// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/half_gemm.h"
#include "kernels/ukernel/reference/half_gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Gemm {
  const char* name;
  decltype(&ukernel::native::multiply_halves) multiply;
};
RL_VARIANTS(Gemm, variants, multiply_halves)

std::string name_of(size_t rows, size_t depth) {
  return "half gemm " + std::to_string(rows) + "x16x" + std::to_string(depth);
}

ukernel::HalfGemm product_of(size_t rows, size_t depth, const std::vector<float>& left,
                             const std::vector<uint16_t>& panel, std::vector<float>* out) {
  ukernel::HalfGemm product;
  product.depth = depth;
  product.rows = rows;
  product.features = ukernel::kBlockFeatures;
  product.left = left.data();
  product.left_stride = static_cast<ptrdiff_t>(depth);
  product.panel = panel.data();
  product.out = out->data();
  product.out_stride = ukernel::kBlockFeatures;
  return product;
}

}  // namespace

RL_BENCHMARK(half_gemm, bench) {
  constexpr size_t kDepth = 576;
  const std::vector<uint16_t> panel(kDepth * ukernel::kBlockFeatures, 0x2c00);
  for (const size_t rows : {1, 64}) {
    const std::vector<float> left(rows * kDepth, 0.5F);
    std::vector<float> out(rows * ukernel::kBlockFeatures);
    const ukernel::HalfGemm product = product_of(rows, kDepth, left, panel, &out);
    const auto operations = 2.0 * static_cast<double>(rows * kDepth * ukernel::kBlockFeatures);
    const auto bytes = static_cast<double>(2 * panel.size());
    for (const Gemm& each : variants()) {
      bench.time({name_of(rows, kDepth), each.name, operations, bytes}, [&] { each.multiply(product); });
    }
    bench.time({name_of(rows, kDepth), "reference", operations, bytes}, [&] {
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < ukernel::kBlockFeatures; ++j) {
          out[i * ukernel::kBlockFeatures + j] =
              static_cast<float>(ukernel::reference::multiply_halves(product, i, j));
        }
      }
    });
  }
}
