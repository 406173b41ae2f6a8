// SPDX-License-Identifier: BSD-3-Clause
// Problems of linear layers, and their backs. LinearProblem is declared in matmul/linear.h with its checks.
#pragma once

#include <optional>

#include "kernels/matmul/activation.h"
#include "kernels/matmul/linear.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = activation(input weight^T + bias + residual). The activation is not read when preparing.
struct LinearActProblem : LinearProblem {
  const std::optional<Tensor>& residual;
  Activation activation;
};

namespace host {

// linear.cpp: float32, float16 and bfloat16. Errors: MemoryAllocationFailed.
Error linear(KernelContext& context, const LinearProblem& problem);
Error linear_prepare(KernelContext& context, const LinearProblem& problem);
Error linear_act(KernelContext& context, const LinearActProblem& problem);
Error linear_act_prepare(KernelContext& context, const LinearActProblem& problem);

}  // namespace host

namespace board {

Error linear(KernelContext& context, const LinearProblem& problem);
Error linear_act(KernelContext& context, const LinearActProblem& problem);
Error linear_act_clamp(KernelContext& context, const LinearActProblem& problem);  // clamp or none

}  // namespace board

}  // namespace rushlight::kernels
