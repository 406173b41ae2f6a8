// SPDX-License-Identifier: BSD-3-Clause
// Quantizes a block of rows, then multiplies it with all panels: weights are read from where the program has
// them, once for each block of rows.
#include "kernels/backs/block_linear.h"

#include <algorithm>

#include "kernels/host/int8/grouped_linear.h"

namespace rushlight::kernels::host {

namespace {

// Bytes of quantized rows that stay in the second level of the cache beside a panel.
constexpr size_t kNear = size_t{1} << 18;

size_t rows_together(const BlockLinearProblem& problem) {
  const size_t fitting = std::max(kNear / ukernel::block_row_bytes(problem.weight.form) / 8, size_t{1}) * 8;
  return std::min(fitting, problem.rows);
}

size_t scratch_bytes(const BlockLinearProblem& problem) {
  return rows_together(problem) * ukernel::block_row_bytes(problem.weight.form);
}

ukernel::BlockGemm gemm_of(const BlockLinearProblem& problem, size_t first, size_t rows,
                           const char* quantized) {
  const size_t features = problem.weight.features;
  ukernel::BlockGemm gemm;
  gemm.form = problem.weight.form;
  gemm.rows = rows;
  gemm.left = quantized;
  gemm.left_stride = ukernel::block_row_bytes(gemm.form);
  gemm.out = problem.out + first * features;
  gemm.out_stride = static_cast<ptrdiff_t>(features);
  gemm.residual = problem.residual == nullptr ? nullptr : problem.residual + first * features;
  gemm.residual_stride = gemm.out_stride;
  return gemm;
}

void multiply_panels(const BlockLinearProblem& problem, ukernel::BlockGemm gemm, size_t begin, size_t end) {
  float* const out = gemm.out;
  const float* const residual = gemm.residual;
  for (size_t panel = begin; panel < end; ++panel) {
    const size_t feature = panel * ukernel::kBlockFeatures;
    gemm.features = std::min(ukernel::kBlockFeatures, problem.weight.features - feature);
    gemm.panel = problem.weight.panel(panel).data;
    gemm.bias = problem.bias == nullptr ? nullptr : problem.bias + feature;
    gemm.residual = residual == nullptr ? nullptr : residual + feature;
    gemm.out = out + feature;
    ukernel::multiply_blocks(gemm);
  }
}

}  // namespace

std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem) {
  const ukernel::BlockForm& form = problem.weight.form;
  const size_t together = rows_together(problem), row_bytes = ukernel::block_row_bytes(form);
  auto* quantized = static_cast<char*>(context.allocate_temp(scratch_bytes(problem), 64));
  if (quantized == nullptr) return std::nullopt;
  for (size_t first = 0; first < problem.rows; first += together) {
    const size_t rows = std::min(together, problem.rows - first);
    context.parallel_for(rows, items_for_piece(form.depth * 16), [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) {
        ukernel::quantize_block_row(form, problem.input + (first + i) * form.depth,
                                    quantized + i * row_bytes);
      }
    });
    const ukernel::BlockGemm gemm = gemm_of(problem, first, rows, quantized);
    const size_t grain = items_for_piece(rows * ukernel::kBlockFeatures * form.depth);
    context.parallel_for(problem.weight.panels(), grain, [&](size_t begin, size_t end, size_t) {
      multiply_panels(problem, gemm, begin, end);
    });
  }
  return Error::Ok;
}

Error block_linear_prepare(KernelContext& context, const BlockLinearProblem& problem) {
  context.need_scratch(scratch_bytes(problem) + 64);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
