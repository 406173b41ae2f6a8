// SPDX-License-Identifier: BSD-3-Clause
// Weights are read from where the program has them, once for each block of rows. Of integers a block of rows
// is quantized first, then multiplied with all panels.
#include "kernels/backs/block_linear.h"

#include <algorithm>

#include "kernels/host/int8/grouped_linear.h"

namespace rushlight::kernels::host {

namespace {

// Bytes of rows that stay in the second level of the cache beside a panel.
constexpr size_t kNear = size_t{1} << 18;

size_t row_bytes(const BlockWeight& weight) {
  return weight.is_half ? weight.form.depth * sizeof(float) : ukernel::block_row_bytes(weight.form);
}

size_t rows_together(const BlockLinearProblem& problem) {
  const size_t fitting = std::max(kNear / std::max<size_t>(row_bytes(problem.weight), 1) / 8, size_t{1}) * 8;
  return std::min(fitting, problem.rows);
}

size_t scratch_bytes(const BlockLinearProblem& problem) {
  return problem.weight.is_half ? 0 : rows_together(problem) * row_bytes(problem.weight);
}

// Where results of rows from `first` on go, for either family of microkernels.
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

// Multiplies all panels, shared by threads; multiply(gemm, panel) calls the microkernel.
template <class Gemm, class Multiply>
void multiply_panels(KernelContext& context, const BlockLinearProblem& problem, const Gemm& whole,
                     const Multiply& multiply) {
  const BlockWeight& weight = problem.weight;
  const size_t grain = items_for_piece(whole.rows * ukernel::kBlockFeatures * weight.form.depth);
  context.parallel_for(weight.panels(), grain, [&](size_t begin, size_t end, size_t) {
    for (size_t panel = begin; panel < end; ++panel) {
      const size_t feature = panel * ukernel::kBlockFeatures;
      Gemm gemm = whole;
      gemm.features = std::min(ukernel::kBlockFeatures, weight.features - feature);
      gemm.bias = problem.bias == nullptr ? nullptr : problem.bias + feature;
      if (whole.residual != nullptr) gemm.residual = whole.residual + feature;
      gemm.out = whole.out + feature;
      multiply(gemm, weight.panel_data(panel));
    }
  });
}

void multiply_halves(KernelContext& context, const BlockLinearProblem& problem, size_t first, size_t rows) {
  auto gemm = gemm_of<ukernel::HalfGemm>(problem, first, rows);
  gemm.depth = problem.weight.form.depth;
  gemm.left = problem.input + first * gemm.depth;
  gemm.left_stride = static_cast<ptrdiff_t>(gemm.depth);
  multiply_panels(context, problem, gemm, [](ukernel::HalfGemm& each, const uint8_t* panel) {
    each.panel = reinterpret_cast<const uint16_t*>(panel);
    ukernel::multiply_halves(each);
  });
}

void multiply_blocks(KernelContext& context, const BlockLinearProblem& problem, size_t first, size_t rows,
                     char* quantized) {
  const ukernel::BlockForm& form = problem.weight.form;
  const size_t bytes = row_bytes(problem.weight);
  context.parallel_for(rows, items_for_piece(form.depth * 16), [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      ukernel::quantize_block_row(form, problem.input + (first + i) * form.depth, quantized + i * bytes);
    }
  });
  auto gemm = gemm_of<ukernel::BlockGemm>(problem, first, rows);
  gemm.form = form;
  gemm.left = quantized;
  gemm.left_stride = bytes;
  multiply_panels(context, problem, gemm, [](ukernel::BlockGemm& each, const uint8_t* panel) {
    each.panel = panel;
    ukernel::multiply_blocks(each);
  });
}

}  // namespace

std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem) {
  const BlockWeight& weight = problem.weight;
  char* quantized = nullptr;
  if (!weight.is_half) {
    quantized = static_cast<char*>(context.allocate_temp(scratch_bytes(problem), 64));
    if (quantized == nullptr) return std::nullopt;
  }
  const size_t together = rows_together(problem);
  for (size_t first = 0; first < problem.rows; first += together) {
    const size_t rows = std::min(together, problem.rows - first);
    if (weight.is_half) {
      multiply_halves(context, problem, first, rows);
    } else {
      multiply_blocks(context, problem, first, rows, quantized);
    }
  }
  return Error::Ok;
}

Error block_linear_prepare(KernelContext& context, const BlockLinearProblem& problem) {
  if (!problem.weight.is_half) context.need_scratch(scratch_bytes(problem) + 64);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
