// SPDX-License-Identifier: BSD-3-Clause
// Linear layers with block-quantized weights: quantizes as many rows as the microkernel takes at once into
// scratch memory, then multiplies them by every panel. Without scratch memory the portable code computes the
// same result, but quantizes the rows again for each panel.
#include "kernels/backs/block_linear.h"

#include "kernels/int8/block_panels.h"

namespace rushlight::kernels::board {

namespace {

constexpr size_t kAlignment = 64;

}  // namespace

std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem) {
  const BlockWeight& weight = problem.weight;
  if (weight.is_half) {
    multiply_panels(problem, half_gemm_of(problem, 0, problem.rows), 0, weight.panels());
    return Error::Ok;
  }
  const size_t bytes = ukernel::block_row_bytes(weight.form);
  const size_t together = std::min(ukernel::native::kBlockGemmRows, problem.rows);
  auto* quantized = static_cast<char*>(context.allocate_temp(together * bytes, kAlignment));
  if (quantized == nullptr) return std::nullopt;
  for (size_t first = 0; first < problem.rows; first += together) {
    const size_t rows = std::min(together, problem.rows - first);
    for (size_t i = 0; i < rows; ++i) {
      const float* row = problem.input + (first + i) * weight.form.depth;
      ukernel::quantize_block_row(weight.form, row, quantized + i * bytes);
    }
    multiply_panels(problem, block_gemm_of(problem, first, rows, quantized, bytes), 0, weight.panels());
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
