// SPDX-License-Identifier: BSD-3-Clause
// Portable attention over a key/value cache, one token and one head at a time. Backs fall back to it if their
// scratch memory is exhausted, since it needs a row of one head only.
#pragma once

#include <cstddef>

#include "kernels/matmul/cached_attention_plan.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Bytes of scratch memory that attend_by_tokens() needs.
[[nodiscard]] inline size_t cached_attention_bytes(const CachedAttention& plan) {
  return plan.depth * sizeof(float);
}

// Computes the call token by token with online softmax: first appends all keys and values to the cache, then
// attends, in float32 for every cache dtype. MemoryAllocationFailed, before anything is written, if scratch
// memory is exhausted. Precondition: begin_cached_attention(). Cost: 2 * depth multiply-adds for each head of
// queries and key that it sees.
Error attend_by_tokens(KernelContext& context, const CachedAttention& plan);

}  // namespace rushlight::kernels
