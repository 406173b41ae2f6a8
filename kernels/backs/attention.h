// SPDX-License-Identifier: BSD-3-Clause
// The problem of scaled_dot_product_attention, and its back.
#pragma once

#include "kernels/matmul/attention.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// All tensors but the mask have the dtype of `out`, which has its shape.
struct AttentionProblem {
  const AttentionPlan& plan;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return out.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// float32
Error attention(KernelContext& context, const AttentionProblem& problem);
Error attention_prepare(KernelContext& context, const AttentionProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
