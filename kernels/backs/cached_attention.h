// SPDX-License-Identifier: BSD-3-Clause
// The problem of attention over a key/value cache, and its back.
#pragma once

#include "kernels/matmul/cached_attention_plan.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// To prepare, the plan has the method's largest number of tokens, and no position.
struct CachedAttentionProblem {
  const CachedAttention& plan;

  [[nodiscard]] ScalarType type() const { return plan.cache_type; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// cached_attention.cpp: float32, float16 and int8 caches.
Error cached_attention(KernelContext& context, const CachedAttentionProblem& problem);
Error cached_attention_prepare(KernelContext& context, const CachedAttentionProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
