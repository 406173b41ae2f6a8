// SPDX-License-Identifier: BSD-3-Clause
// The problem of attention over a key/value cache, and its back. CachedAttention defines the computation and
// the layouts; the caches are written as well as read.
#pragma once

#include "kernels/matmul/cached_attention_plan.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// To prepare, the plan has the method's largest number of tokens, and no position. In a call, after
// begin_cached_attention(), out, caches and scales overlap no other tensor.
struct CachedAttentionProblem {
  const CachedAttention& plan;

  [[nodiscard]] ScalarType type() const { return plan.cache_type; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// cached_attention.cpp: float32, float16 and int8 caches, computed in float32. Never declines: without
// scratch memory it calls attend_by_tokens(), whose error it returns. Prepares scratch memory only.
Error cached_attention(KernelContext& context, const CachedAttentionProblem& problem);
Error cached_attention_prepare(KernelContext& context, const CachedAttentionProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
