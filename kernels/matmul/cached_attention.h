// SPDX-License-Identifier: BSD-3-Clause
// Portable attention over a key/value cache.
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

// Computes the call token by token with online softmax. MemoryAllocationFailed, before anything is written,
// if scratch memory is exhausted.
Error attend_by_tokens(KernelContext& context, const CachedAttention& plan);

}  // namespace rushlight::kernels
