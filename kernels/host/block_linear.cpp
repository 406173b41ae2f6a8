// SPDX-License-Identifier: BSD-3-Clause
// Linear layers with block-quantized weights, which are read in place from the program, once for each block
// of rows. A block of rows is quantized to scratch memory first and then multiplied by all panels; with
// half-precision weights rows are used as they are.
#include "kernels/backs/block_linear.h"

#include <algorithm>

#include "kernels/host/int8/grouped_linear.h"
#include "kernels/int8/block_panels.h"

namespace rushlight::kernels::host {

namespace {

// Bytes of rows that stay in the L2 cache beside a panel.
constexpr size_t kNear = size_t{1} << 18;

size_t row_bytes(const BlockWeight& weight) {
  return weight.is_half ? weight.form.depth * sizeof(float) : ukernel::block_row_bytes(weight.form);
}

size_t rows_together(const BlockLinearProblem& problem) {
  // A multiple of 8 rows, which fills tiles of 2, 4 or 8 rows.
  const size_t fitting = std::max(kNear / std::max<size_t>(row_bytes(problem.weight), 1) / 8, size_t{1}) * 8;
  return std::min(fitting, problem.rows);
}

size_t scratch_bytes(const BlockLinearProblem& problem) {
  return problem.weight.is_half ? 0 : rows_together(problem) * row_bytes(problem.weight);
}

// Multiplies rows by all panels on several threads. While a token is decoded layers follow each other without
// pause, so the threads are still awake: pieces may be smaller than elsewhere.
template <class Gemm>
void multiply_shared(KernelContext& context, const BlockLinearProblem& problem, const Gemm& gemm) {
  constexpr size_t kSmaller = 4;
  const BlockWeight& weight = problem.weight;
  const size_t products = gemm.rows * ukernel::kBlockFeatures * weight.form.depth;
  const size_t grain = items_for_piece(products * kSmaller);
  context.parallel_for(weight.panels(), grain,
                       [&](size_t begin, size_t end, size_t) { multiply_panels(problem, gemm, begin, end); });
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
  multiply_shared(context, problem, block_gemm_of(problem, first, rows, quantized, bytes));
}

}  // namespace

std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem) {
  const BlockWeight& weight = problem.weight;
  char* quantized = nullptr;
  if (!weight.is_half) {
    // Without scratch memory the portable code takes the call.
    quantized = static_cast<char*>(context.allocate_temp(scratch_bytes(problem), 64));
    if (quantized == nullptr) return std::nullopt;
  }
  const size_t together = rows_together(problem);
  for (size_t first = 0; first < problem.rows; first += together) {
    const size_t rows = std::min(together, problem.rows - first);
    if (weight.is_half) {
      multiply_shared(context, problem, half_gemm_of(problem, first, rows));
    } else {
      multiply_blocks(context, problem, first, rows, quantized);
    }
  }
  return Error::Ok;
}

Error block_linear_prepare(KernelContext& context, const BlockLinearProblem& problem) {
  context.need_products(problem.rows * problem.weight.panels() * ukernel::kBlockFeatures *
                        problem.weight.form.depth);
  if (!problem.weight.is_half) context.need_scratch(scratch_bytes(problem) + 64);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
