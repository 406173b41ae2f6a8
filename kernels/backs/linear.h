// SPDX-License-Identifier: BSD-3-Clause
// Problems of linear layers, and their backs. LinearProblem is declared in matmul/linear.h with its checks,
// which the front has done: all tensors have one dtype, and `out` has its shape.
#pragma once

#include <optional>

#include "kernels/matmul/activation.h"
#include "kernels/matmul/linear.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = activation(input weight^T + bias + residual), fused: sums are not stored in between. The activation
// is not read when preparing. The residual has the shape and dtype of `out`, in any layout.
struct LinearActProblem : LinearProblem {
  const std::optional<Tensor>& residual;
  Activation activation;
};

namespace host {

// linear.cpp: float32, float64, float16 and bfloat16, in any layout. Leading dimensions are merged into rows.
// The prepare functions pack a constant weight and request scratch memory. Errors: MemoryAllocationFailed.
Error linear(KernelContext& context, const LinearProblem& problem);
Error linear_prepare(KernelContext& context, const LinearProblem& problem);
Error linear_act(KernelContext& context, const LinearActProblem& problem);
Error linear_act_prepare(KernelContext& context, const LinearActProblem& problem);

}  // namespace host

namespace board {

// linear.cpp, linear_act.cpp: float32 and float16, with the weight as stored. Need no scratch memory; never
// fail.
Error linear(KernelContext& context, const LinearProblem& problem);
Error linear_act(KernelContext& context, const LinearActProblem& problem);
Error linear_act_clamp(KernelContext& context, const LinearActProblem& problem);  // clamp or none

}  // namespace board

}  // namespace rushlight::kernels
