// SPDX-License-Identifier: BSD-3-Clause
// The portable loop of attention over a cache.
#pragma once

#include <cstddef>

#include "kernels/matmul/cached_attention_plan.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Bytes of scratch memory that attend_by_tokens() takes.
[[nodiscard]] inline size_t cached_attention_bytes(const CachedAttention& plan) {
  return plan.depth * sizeof(float);
}

// The portable loop: a token after the other, softmax carried from key to key. MemoryAllocationFailed, before
// anything is written, where scratch memory is out.
Error attend_by_tokens(KernelContext& context, const CachedAttention& plan);

}  // namespace rushlight::kernels
