// SPDX-License-Identifier: BSD-3-Clause
// Attention over a key/value cache. First appends keys and values and rotates queries, token by token;
// rotated queries are stored in the memory of their results. Then threads share the items of
// kernels/host/attention/cached_blocks.h. Without scratch memory the portable attend_by_tokens() computes the
// same.
#include "kernels/backs/cached_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/host/attention/cached_blocks.h"
#include "kernels/host/attention/pieces.h"
#include "kernels/host/parts.h"
#include "kernels/matmul/cached_attention.h"
#include "kernels/ukernel/cache_rows.h"
#include "kernels/ukernel/convert.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kAppended = 16384;  // elements of queries, keys and values worth a thread
constexpr size_t kMerged = 16384;    // partial sums worth a thread

void rotate(const CachedAttention& plan, const float* x, const float* norm, size_t token, float* to) {
  if (norm == nullptr) {
    std::memcpy(to, x, plan.depth * sizeof(float));
  } else {
    const float mean = ukernel::squares_span(plan.depth, x, 0) / static_cast<float>(plan.depth);
    ukernel::normalize_span(plan.depth, x, 0, 1.0f / std::sqrt(mean + plan.eps), norm, nullptr, to);
  }
  // Pair (x, y) becomes (x cos - y sin, y cos + x sin), with one angle for each pair and position.
  const float* const cos = plan.cos + (plan.position + token) * plan.half;
  const float* const sin = plan.sin + (plan.position + token) * plan.half;
  if (plan.interleaved) return ukernel::rotate_pairs(plan.half, to, cos, sin);
  ukernel::rotate_halves(plan.half, to, to + plan.half, cos, sin);
}

// Quantizes with scale = max|x| / 127, as the portable code does.
void quantize(const float* x, size_t depth, int8_t* to, float* scale) {
  const float highest = ukernel::max_span(depth, x);
  const float lowest = -ukernel::min_span(depth, x);
  const float largest = highest > lowest ? highest : lowest;  // NaN if x contains NaN
  *scale = largest / 127.0f;
  ukernel::quantize_i8(depth, x, {largest > 0 ? 127.0f / largest : 0.0f, 0.0f, -127.0f, 127.0f}, to);
}

void store(const CachedAttention& plan, const float* x, const CacheTensor& cache, size_t row) {
  if (plan.cache_type == ScalarType::Char) {
    quantize(x, plan.depth, cache.row<int8_t>(row, plan.depth), cache.scales + row);
  } else if (plan.cache_type == ScalarType::Half) {
    ukernel::f32_to_half(plan.depth, x, cache.row<uint16_t>(row, plan.depth));
  } else {
    std::memcpy(cache.row<float>(row, plan.depth), x, plan.depth * sizeof(float));
  }
}

// Rotates keys in the memory of the first query's result.
void append(const CachedAttention& plan, size_t token) {
  // Memory for one rotated key; the rotated query of head 0 overwrites it at the end.
  float* const held = plan.result(token, 0);
  for (size_t head = 0; head < plan.key_heads; ++head) {
    const size_t row = head * plan.context + plan.position + token;
    rotate(plan, plan.key(token, head), plan.key_norm, token, held);
    store(plan, held, plan.keys, row);
    store(plan, plan.value(token, head), plan.values, row);
  }
  for (size_t head = 0; head < plan.heads; ++head) {
    rotate(plan, plan.query(token, head), plan.query_norm, token, plan.result(token, head));
  }
}

}  // namespace

Error cached_attention(KernelContext& context, const CachedAttentionProblem& problem) {
  const CachedAttention& plan = problem.plan;
  if (plan.tokens == 0) return Error::Ok;
  // Partial sums are needed if the keys of a row are divided among items; merge() combines them.
  const AttentionItems items(plan);
  const size_t partial_bytes = items.partial_bytes();
  float* partials = nullptr;
  if (partial_bytes > 0) partials = static_cast<float*>(context.allocate_temp(partial_bytes, 64));
  Pieces pieces(context, std::min(items.count(), items.work() / kThreadProducts + 1), items.worker_bytes());
  if (pieces.empty() || (partials == nullptr && partial_bytes > 0)) return attend_by_tokens(context, plan);

  // All tokens are appended before any is attended: later items read the keys of earlier tokens.
  const size_t width = (plan.heads + 2 * plan.key_heads) * plan.depth;
  context.parallel_for(plan.tokens, kAppended / width + 1, [&](size_t begin, size_t end, size_t) {
    for (size_t token = begin; token < end; ++token) append(plan, token);
  });
  pieces.run([&](size_t piece, size_t num_pieces, void* scratch) {
    // Interleaved, because causal items differ in their number of keys.
    for (size_t i = piece; i < items.count(); i += num_pieces) {
      items.compute(i, static_cast<float*>(scratch), partials);
    }
  });
  if (partials == nullptr) return Error::Ok;
  context.parallel_for(plan.tokens * plan.heads, kMerged / plan.depth + 1,
                       [&](size_t begin, size_t end, size_t) {
                         for (size_t row = begin; row < end; ++row) items.merge(row, partials);
                       });
  return Error::Ok;
}

Error cached_attention_prepare(KernelContext& context, const CachedAttentionProblem& problem) {
  const CachedAttention& plan = problem.plan;
  context.need_products(2 * plan.tokens * plan.heads * plan.context * plan.depth);
  const size_t least = cached_attention_bytes(problem.plan) + 64;
  context.need_scratch(std::max(least, AttentionItems::most_bytes(problem.plan, context.threads())));
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
