// SPDX-License-Identifier: BSD-3-Clause
// The problem struct and the back of scaled_dot_product_attention: out = softmax(q k^T * scale + mask) v. The
// operators with a cache (custom_sdpa, custom_quantized_sdpa) use it, too.
#pragma once

#include <optional>

#include "kernels/matmul/attention.h"
#include "kernels/matmul/quantized_attention.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Every tensor except the mask has the dtype of `out`, and `out` already has its shape. With `tokens`,
// queries, keys and values are int8, `tokens` holds their scales, and `out` is float32. The mask is bool,
// float32 or of the dtype of `out`; see AttentionPlan.
struct AttentionProblem {
  const AttentionPlan& plan;
  const Tensor& out;
  const QuantizedTokens* tokens = nullptr;

  [[nodiscard]] ScalarType type() const { return tokens == nullptr ? out.scalar_type() : ScalarType::Char; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// attention.cpp: float32, float16, bfloat16 and int8. Declines tensors whose rows are not contiguous,
// problems without keys, and problems that the scratch memory is too small for. Scratch memory is one block
// for each thread and does not grow with the number of keys beyond a limit; attention_prepare() requests it
// for the largest shapes.
std::optional<Error> attention(KernelContext& context, const AttentionProblem& problem);
Error attention_prepare(KernelContext& context, const AttentionProblem& problem);

}  // namespace host

namespace board {

// attention.cpp: float32 and float16, any strides. 2.5 kB of stack, 4.5 kB for float16, a quarter more with
// RVV, and that of multiply_floats() or multiply_halves().
Error attention(KernelContext& context, const AttentionProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
