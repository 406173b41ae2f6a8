// SPDX-License-Identifier: BSD-3-Clause
// The problem of linear layers with block-quantized weights, and its backs.
#pragma once

#include <optional>

#include "kernels/quantization/block_weight.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input weight^T (+ bias) (+ residual), in the arithmetic of kernels/ukernel/block_gemm.h. All tensors
// are float32, row-major and contiguous: input [rows, depth], residual and out [rows, outputs], bias
// [outputs].
struct BlockLinearProblem {
  static constexpr bool kDtypeIsSelected = true;

  const BlockWeight& weight;
  size_t rows;
  const float* input;
  const float* bias;      // null if absent
  const float* residual;  // null if absent
  float* out;

  [[nodiscard]] static ScalarType type() { return ScalarType::Float; }
  [[nodiscard]] static bool is_in(TypeSet types) { return contains(types, type()); }
};

namespace host {

// block_linear.cpp: float32. Declines if scratch memory cannot hold one quantized row.
std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem);
Error block_linear_prepare(KernelContext& context, const BlockLinearProblem& problem);

}  // namespace host

namespace board {

// block_linear.cpp: float32. Declines if scratch memory cannot hold the quantized rows of one microkernel
// call.
std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
