// SPDX-License-Identifier: BSD-3-Clause
// The problem of scaled_dot_product_attention, and its back.
#pragma once

#include <optional>

#include "kernels/matmul/attention.h"
#include "kernels/matmul/quantized_attention.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// All tensors but the mask have the dtype of `out`, which has its shape; but queries, keys and values are
// int8 and `out` float32 where `tokens` says what the numbers stand for.
struct AttentionProblem {
  const AttentionPlan& plan;
  const Tensor& out;
  const QuantizedTokens* tokens = nullptr;

  [[nodiscard]] ScalarType type() const { return tokens == nullptr ? out.scalar_type() : ScalarType::Char; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// float32, float16, bfloat16 and int8. Declines rows with gaps, and what scratch memory is too small for.
std::optional<Error> attention(KernelContext& context, const AttentionProblem& problem);
Error attention_prepare(KernelContext& context, const AttentionProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
