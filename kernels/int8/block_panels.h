// SPDX-License-Identifier: BSD-3-Clause
// Products of rows with the panels of a block-quantized weight, shared by the backs of block_linear. A panel
// holds the weights of kBlockFeatures (16) output features for the whole depth, so each panel gives one block
// of adjacent result columns, and panels can be divided among threads: no two of them write the same element.
//
//   gemm = block_gemm_of(problem, first, rows, quantized, row_bytes);   or half_gemm_of()
//   multiply_panels(problem, gemm, 0, problem.weight.panels());
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/backs/block_linear.h"
#include "kernels/ukernel/block_gemm.h"
#include "kernels/ukernel/half_gemm.h"

namespace rushlight::kernels {

// Sets the fields that do not depend on the panel, for rows [first, first + rows). Gemm is BlockGemm or
// HalfGemm. The problem's tensors are contiguous, so the strides of out and residual are the number of
// features.
template <class Gemm>
Gemm gemm_of(const BlockLinearProblem& problem, size_t first, size_t rows) {
  const size_t features = problem.weight.features;
  Gemm gemm;
  gemm.rows = rows;
  gemm.out = problem.out + first * features;
  gemm.out_stride = static_cast<ptrdiff_t>(features);
  gemm.residual = problem.residual == nullptr ? nullptr : problem.residual + first * features;
  gemm.residual_stride = gemm.out_stride;
  return gemm;
}
// The product of float16 weights with rows of the input as they are: needs no scratch memory.
inline ukernel::HalfGemm half_gemm_of(const BlockLinearProblem& problem, size_t first, size_t rows) {
  auto gemm = gemm_of<ukernel::HalfGemm>(problem, first, rows);
  gemm.depth = problem.weight.form.depth;
  gemm.left = problem.input + first * gemm.depth;
  gemm.left_stride = static_cast<ptrdiff_t>(gemm.depth);
  return gemm;
}
// The product of integer weights with rows that quantize_block_row() wrote. `quantized` is row `first`,
// aligned to 64 bytes, and must stay valid while panels are multiplied. `row_bytes` is block_row_bytes() of
// the form.
inline ukernel::BlockGemm block_gemm_of(const BlockLinearProblem& problem, size_t first, size_t rows,
                                        const char* quantized, size_t row_bytes) {
  auto gemm = gemm_of<ukernel::BlockGemm>(problem, first, rows);
  gemm.form = problem.weight.form;
  gemm.left = quantized;
  gemm.left_stride = row_bytes;
  return gemm;
}

// Multiplies the rows of `gemm` by one panel, given its first byte. Overloads, so that multiply_panels() is
// one template for both kinds of weight.
inline void multiply_panel(ukernel::HalfGemm& gemm, const uint8_t* panel) {
  gemm.panel = reinterpret_cast<const uint16_t*>(panel);
  ukernel::multiply_halves(gemm);
}
inline void multiply_panel(ukernel::BlockGemm& gemm, const uint8_t* panel) {
  gemm.panel = panel;
  ukernel::multiply_blocks(gemm);
}

// Multiplies the rows of `whole` by panels [begin, end). The last panel may have fewer than kBlockFeatures
// features; only those are stored. Reads each panel once for all rows of the call.
template <class Gemm>
void multiply_panels(const BlockLinearProblem& problem, const Gemm& whole, size_t begin, size_t end) {
  const BlockWeight& weight = problem.weight;
  for (size_t panel = begin; panel < end; ++panel) {
    const size_t feature = panel * ukernel::kBlockFeatures;
    Gemm gemm = whole;
    gemm.features = std::min(ukernel::kBlockFeatures, weight.features - feature);
    gemm.bias = problem.bias == nullptr ? nullptr : problem.bias + feature;
    if (whole.residual != nullptr) gemm.residual = whole.residual + feature;
    gemm.out = whole.out + feature;
    multiply_panel(gemm, weight.panel_data(panel));
  }
}

}  // namespace rushlight::kernels
