// SPDX-License-Identifier: BSD-3-Clause
// The problem of linear layers with block weights, and its backs.
#pragma once

#include <optional>

#include "kernels/quantization/block_weight.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input weight^T (+ bias) (+ residual), as kernels/ukernel/block_gemm.h computes it. Tensors are
// float32 and row-major: rows lie behind each other.
struct BlockLinearProblem {
  static constexpr bool kDtypeIsSelected = true;

  const BlockWeight& weight;
  size_t rows;
  const float* input;
  const float* bias;      // null: none
  const float* residual;  // null: none
  float* out;

  [[nodiscard]] static ScalarType type() { return ScalarType::Float; }
  [[nodiscard]] static bool is_in(TypeSet types) { return contains(types, type()); }
};

namespace host {

// block_linear.cpp: float32. It declines when there is too little scratch memory for a row.
std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem);
Error block_linear_prepare(KernelContext& context, const BlockLinearProblem& problem);

}  // namespace host

namespace board {

// It declines when there is too little scratch memory for a row.
std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
