// SPDX-License-Identifier: BSD-3-Clause
// Division of attention over a cache into items that threads share, and the computation of an item. The
// division depends on the shapes and the position only, so the bits of the result do not depend on the number
// of threads.
//
// An item is one head of keys, a block of tokens with all queries of the head's group, and a range of keys.
// With many tokens an item has all the keys of its tokens, and writes the result. With few tokens (decoding)
// the keys are divided into ranges; merge() adds their partial results, each relative to its own largest
// score. Reference: Dao et al., "Flash-Decoding for long-context inference", 2023.
#pragma once

#include <cstddef>

#include "kernels/matmul/cached_attention_plan.h"

namespace rushlight::kernels::host {

// Keeps a reference to the plan. Const after construction, so threads share it. Queries are read from the
// memory of their results, where the caller has rotated them.
class AttentionItems {
 public:
  explicit AttentionItems(const CachedAttention& plan);

  // Number of items; threads may compute them in any order.
  [[nodiscard]] size_t count() const { return plan_.key_heads * token_blocks_ * ranges_; }
  // Approximate number of multiplications.
  [[nodiscard]] size_t work() const;
  // Bytes of scratch memory of a worker, and of partial results; 0 if not needed.
  [[nodiscard]] size_t worker_bytes() const;
  [[nodiscard]] size_t partial_bytes() const;

  // The sum of both for any call with at most this number of tokens and `threads` threads.
  [[nodiscard]] static size_t most_bytes(CachedAttention plan, size_t threads);

  // Computes an item. `scratch` has worker_bytes() and belongs to one thread at a time, `partials`
  // partial_bytes() for all. Queries have been rotated to the memory of their results, which the item
  // overwrites if it has all keys.
  void compute(size_t item, float* scratch, float* partials) const;
  // Combines the partial results of row `row` of plan.tokens * plan.heads and writes the result.
  void merge(size_t row, float* partials) const;

 private:
  friend class AttentionWorker;

  // Floats of one range of keys: sums [tokens][heads][depth], then shifts and totals [tokens][heads].
  [[nodiscard]] size_t partial_floats() const { return plan_.tokens * plan_.heads * (plan_.depth + 2); }

  const CachedAttention& plan_;
  bool splits_ = false;      // divides into ranges of keys, not blocks of tokens
  bool packs_ = false;       // packs keys, for tiles of many queries
  size_t block_tokens_ = 0;  // tokens in an item
  size_t block_keys_ = 0;    // keys multiplied at a time
  size_t tile_rows_ = 0;     // queries multiplied at a time
  size_t first_key_ = 0;     // smallest key that the call sees
  // Keys of a range, and the numbers of ranges and of blocks of tokens; one of the two numbers is 1.
  size_t range_keys_ = 0;
  size_t ranges_ = 1;
  size_t token_blocks_ = 1;
};

}  // namespace rushlight::kernels::host
