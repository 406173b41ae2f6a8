// SPDX-License-Identifier: BSD-3-Clause
// How attention over a cache is cut into items that threads share, and the worker that computes one. The cut
// depends on the shapes and the position alone: so do the bits of the result.
//
// An item is one head of keys, some tokens with all queries of the head's group, and a range of keys. Many
// tokens: blocks of tokens, each with all its keys; results are written as they are. Few tokens (decoding):
// ranges of keys, whose partial results, relative to their own largest score, merge() adds up ("flash
// decoding").
#pragma once

#include <cstddef>

#include "kernels/matmul/cached_attention_plan.h"

namespace rushlight::kernels::host {

class AttentionItems {
 public:
  explicit AttentionItems(const CachedAttention& plan);

  [[nodiscard]] size_t count() const { return plan_.key_heads * token_blocks_ * ranges_; }
  // Multiplications, about.
  [[nodiscard]] size_t work() const;
  // Scratch memory of a worker, and for partial results, in bytes; 0 if there are none.
  [[nodiscard]] size_t worker_bytes() const;
  [[nodiscard]] size_t partial_bytes() const;

  // Both for any call with at most as many tokens, with so many threads.
  [[nodiscard]] static size_t most_bytes(CachedAttention plan, size_t threads);

  // Computes an item. `partials` has partial_bytes().
  void compute(size_t item, float* scratch, float* partials) const;
  // Adds up what items have computed, for row `row` of plan.tokens * plan.heads.
  void merge(size_t row, float* partials) const;

 private:
  friend class AttentionWorker;

  // Floats of a range of keys: sums of all queries [tokens][heads][depth], their shifts, their totals.
  [[nodiscard]] size_t partial_floats() const { return plan_.tokens * plan_.heads * (plan_.depth + 2); }

  const CachedAttention& plan_;
  bool splits_ = false;      // into ranges of keys, not into blocks of tokens
  bool packs_ = false;       // keys, for tiles of many queries
  size_t block_tokens_ = 0;  // of an item
  size_t block_keys_ = 0;    // that are multiplied at a time
  size_t tile_rows_ = 0;     // queries that are multiplied at a time
  size_t first_key_ = 0;     // of all
  size_t range_keys_ = 0;
  size_t ranges_ = 1;
  size_t token_blocks_ = 1;
};

}  // namespace rushlight::kernels::host
