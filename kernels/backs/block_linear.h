// SPDX-License-Identifier: BSD-3-Clause
// The problem of linear layers with block-quantized weights, and its backs. Decoders read their weights once
// for each token, so the layer is bound by memory: 4 or 8 bits for a weight make it faster.
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
// [outputs]. `out` may be the residual and overlaps nothing else; the weight is the program's memory, read in
// place.
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

// block_linear.cpp: float32; threads divide the panels. Declines if scratch memory cannot hold one quantized
// row. The prepare function requests scratch memory for a block of rows and packs nothing.
std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem);
Error block_linear_prepare(KernelContext& context, const BlockLinearProblem& problem);

}  // namespace host

namespace board {

// block_linear.cpp: float32. Declines if scratch memory cannot hold the quantized rows of one microkernel
// call. float16 weights need none.
std::optional<Error> block_linear(KernelContext& context, const BlockLinearProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
