// SPDX-License-Identifier: BSD-3-Clause
// Keys are processed in blocks that stay in the L1 cache while all queries of an item use them. A few queries
// multiply the cache as stored; for many, a block is converted to float32 and packed once. Softmax is online,
// from block to block (Dao et al., "FlashAttention", 2022). Blocks that no query sees are skipped.
#include "kernels/host/attention/cached_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/host/attention/tiles.h"
#include "kernels/ukernel/attention.h"
#include "kernels/ukernel/cache_rows.h"
#include "kernels/ukernel/convert.h"
#include "kernels/ukernel/dot.h"
#include "kernels/ukernel/elementwise.h"
#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/vector_math.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kBlockKeys = 128;   // rounded up to whole panels
constexpr size_t kFewRows = 8;       // up to this many queries in an item keys are not packed
constexpr size_t kItemRows = 192;    // approximate queries in an item
constexpr size_t kSplitTokens = 16;  // up to this many tokens keys are divided into ranges
constexpr size_t kLeastRange = 256;  // fewest keys in a range
constexpr size_t kMostRanges = 16;
constexpr size_t kTiles = 4;  // tiles of queries that are weighted at a time

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

AttentionItems::AttentionItems(const CachedAttention& plan) : plan_(plan) {
  const size_t group = plan.group();
  // Few tokens (decoding) give too few items for the threads, so the keys are divided instead. The ranges
  // depend on the number of keys only, not on threads, so results do not depend on threads either.
  splits_ = plan.tokens <= kSplitTokens;
  block_tokens_ = splits_ ? plan.tokens : std::min(plan.tokens, std::max(kItemRows / group, kSplitTokens));
  packs_ = group * block_tokens_ > kFewRows;
  block_keys_ = round_up(kBlockKeys, ukernel::gemm_columns());
  tile_rows_ = packs_ ? ukernel::gemm_rows() * kTiles : ukernel::kCacheRows;
  token_blocks_ = plan.tokens == 0 ? 0 : (plan.tokens + block_tokens_ - 1) / block_tokens_;
  if (token_blocks_ == 0) return;
  first_key_ = plan.first_key(0);
  const size_t keys = plan.end_key(plan.tokens - 1) - first_key_;
  range_keys_ =
      splits_ ? std::max(round_up((keys + kMostRanges - 1) / kMostRanges, kBlockKeys), kLeastRange) : keys;
  ranges_ = (keys + range_keys_ - 1) / range_keys_;
}

size_t AttentionItems::work() const {
  return plan_.heads * plan_.tokens * (plan_.end_key(plan_.tokens) - first_key_) * plan_.depth * 2;
}

// Scratch memory of a worker: scores; if keys are packed, also the packed keys, a block of the cache as
// float32, the queries, and the shifts and totals of rows (which otherwise are in the partial results).
size_t AttentionItems::worker_bytes() const {
  size_t floats = tile_rows_ * block_keys_;
  if (packs_) {
    const size_t rows = block_tokens_ * plan_.group();
    const bool converts = plan_.cache_type != ScalarType::Float;
    floats += (converts ? 2 : 1) * block_keys_ * plan_.depth + rows * (plan_.depth + 2);
  }
  return round_up(floats * sizeof(float), 64);
}

size_t AttentionItems::partial_bytes() const {
  return splits_ ? round_up(std::max<size_t>(ranges_ * partial_floats(), 1) * sizeof(float), 64) : 0;
}

// The maximum of two cases: the most tokens, and the most tokens that divide keys into ranges.
size_t AttentionItems::most_bytes(CachedAttention plan, size_t threads) {
  const size_t tokens = std::min(plan.tokens, plan.context);
  size_t bytes = 0;
  for (const size_t count : {tokens, std::min(tokens, kSplitTokens)}) {
    plan.tokens = count;
    // At the end of the cache a token sees the most keys.
    plan.position = plan.context - count;
    AttentionItems items(plan);
    // A call at an earlier position may have more ranges than this one, so their upper limit counts.
    items.ranges_ = std::min(kMostRanges, plan.context / kLeastRange + 1);
    bytes = std::max(bytes, items.partial_bytes() + threads * (items.worker_bytes() + 64));
  }
  return bytes + 64;
}

class AttentionWorker {
 public:
  AttentionWorker(const AttentionItems& items, size_t item, float* scratch, float* partials)
      : items_(items), plan_(items.plan_), group_(plan_.group()), scores_(scratch) {
    const size_t range = item % items.ranges_;
    item /= items.ranges_;
    first_token_ = item % items.token_blocks_ * items.block_tokens_;
    head_ = item / items.token_blocks_;
    tokens_ = std::min(items.block_tokens_, plan_.tokens - first_token_);
    begin_ = items.splits_ ? items.first_key_ + range * items.range_keys_ : plan_.first_key(first_token_);
    end_ = plan_.end_key(first_token_ + tokens_ - 1);
    if (items.splits_) end_ = std::min(end_, begin_ + items.range_keys_);
    // Layout of scratch memory: scores, packed keys, converted block, queries, shifts, totals. With ranges,
    // sums and state are in the partial results of the range instead.
    packed_ = scores_ + items.tile_rows_ * items.block_keys_;
    converted_ = packed_ + items.block_keys_ * plan_.depth;
    queries_ = converted_ + (plan_.cache_type == ScalarType::Float ? 0 : items.block_keys_ * plan_.depth);
    sums_ = plan_.out;
    shifts_ = queries_ + items.block_tokens_ * group_ * plan_.depth;
    totals_ = shifts_ + items.block_tokens_ * group_;
    if (items.splits_) {
      const size_t rows = plan_.tokens * plan_.heads;
      sums_ = partials + range * items.partial_floats();
      shifts_ = sums_ + rows * plan_.depth;
      totals_ = shifts_ + rows;
    }
  }

  void compute() {
    if (items_.packs_) copy_queries();
    for (size_t t = 0; t < tokens_; ++t) {
      std::memset(sums(t, 0), 0, group_ * plan_.depth * sizeof(float));
      for (size_t h = 0; h < group_; ++h) {
        shifts_[state(t, h)] = -std::numeric_limits<float>::infinity();
        totals_[state(t, h)] = 0;
      }
    }
    // Sums start at 0 and shifts at -inf, so the first block needs no special case.
    for (key_ = begin_; key_ < end_; key_ += items_.block_keys_) {
      keys_ = std::min(end_ - key_, items_.block_keys_);
      items_.packs_ ? compute_packed() : compute_few();
    }
    if (!items_.splits_) divide();
  }

 private:
  [[nodiscard]] float* sums(size_t t, size_t h) const {
    return sums_ + ((first_token_ + t) * plan_.heads + head_ * group_ + h) * plan_.depth;
  }
  // Index of a row's shift and total.
  [[nodiscard]] size_t state(size_t t, size_t h) const {
    return items_.splits_ ? t * plan_.heads + head_ * group_ + h : t * group_ + h;
  }
  [[nodiscard]] size_t row(size_t key) const { return head_ * plan_.context + key; }
  // The keys [first, last) of the block that a token sees; may be empty.
  [[nodiscard]] size_t first_seen(size_t t) const {
    const size_t first = plan_.first_key(first_token_ + t);
    return first > key_ ? std::min(first - key_, keys_) : 0;
  }
  [[nodiscard]] size_t last_seen(size_t t) const {
    const size_t last = plan_.end_key(first_token_ + t);
    return last > key_ ? std::min(last - key_, keys_) : 0;
  }

  // Copies the queries, whose memory the results will overwrite, to [group][tokens][depth].
  void copy_queries() {
    for (size_t h = 0; h < group_; ++h) {
      for (size_t t = 0; t < tokens_; ++t) {
        std::memcpy(queries_ + (h * tokens_ + t) * plan_.depth,
                    plan_.result(first_token_ + t, head_ * group_ + h), plan_.depth * sizeof(float));
      }
    }
  }

  void compute_few() {
    for (size_t t = 0; t < tokens_; ++t) {
      const size_t first = first_seen(t);
      const size_t n = std::max(last_seen(t), first) - first;
      if (n == 0) continue;
      for (size_t h = 0; h < group_; h += ukernel::kCacheRows) {
        const size_t rows = std::min(group_ - h, ukernel::kCacheRows);
        multiply_few(t, h, rows, key_ + first, n);
        // int8 keys and values are not dequantized: their scales multiply scores and weights, one for each
        // key.
        scale(plan_.keys, rows, key_ + first, n);
        for (size_t i = 0; i < rows; ++i) weigh(t, h + i, n, scores_ + i * items_.block_keys_);
        scale(plan_.values, rows, key_ + first, n);
        add_few(t, h, rows, key_ + first, n);
      }
    }
  }

  void multiply_few(size_t t, size_t h, size_t rows, size_t key, size_t n) {
    const auto depth = static_cast<ptrdiff_t>(plan_.depth);
    const auto stride = static_cast<ptrdiff_t>(items_.block_keys_);
    const float* query = plan_.result(first_token_ + t, head_ * group_ + h);
    const auto products = [&](auto* cache) {
      return ukernel::CacheRows<std::remove_pointer_t<decltype(cache)>>{rows,  n,     plan_.depth, cache,
                                                                        query, depth, scores_,     stride};
    };
    if (plan_.cache_type == ScalarType::Half) {
      ukernel::cache_products_half(products(plan_.keys.row<uint16_t>(row(key), plan_.depth)));
    } else if (plan_.cache_type == ScalarType::Char) {
      ukernel::cache_products_i8(products(plan_.keys.row<int8_t>(row(key), plan_.depth)));
    } else {
      static_assert(ukernel::kCacheRows <= ukernel::kDotRows);
      ukernel::dot_products({rows, n, plan_.depth, query, depth, plan_.keys.row<float>(row(key), plan_.depth),
                             depth, scores_, stride});
    }
  }

  void add_few(size_t t, size_t h, size_t rows, size_t key, size_t n) {
    const auto depth = static_cast<ptrdiff_t>(plan_.depth);
    const auto stride = static_cast<ptrdiff_t>(items_.block_keys_);
    float* const out = sums(t, h);
    const auto added = [&](auto* cache) {
      return ukernel::CacheRows<std::remove_pointer_t<decltype(cache)>>{rows,    n,      plan_.depth, cache,
                                                                        scores_, stride, out,         depth};
    };
    if (plan_.cache_type == ScalarType::Half) {
      ukernel::cache_sums_half(added(plan_.values.row<uint16_t>(row(key), plan_.depth)));
    } else if (plan_.cache_type == ScalarType::Char) {
      ukernel::cache_sums_i8(added(plan_.values.row<int8_t>(row(key), plan_.depth)));
    } else {
      const float* values = plan_.values.row<float>(row(key), plan_.depth);
      add_value_tiles(scores_, items_.block_keys_, rows, {values, depth, 1}, n, plan_.depth, false, out,
                      depth);
    }
  }

  void compute_packed() {
    const auto depth = static_cast<ptrdiff_t>(plan_.depth);
    pack_keys({block(plan_.keys), depth, 1}, keys_, plan_.depth, packed_);
    const float* const values = block(plan_.values);
    for (size_t h = 0; h < group_; ++h) {
      for (size_t t = 0; t < tokens_; t += items_.tile_rows_) {
        const size_t rows = std::min(items_.tile_rows_, tokens_ - t);
        const size_t n = last_seen(t + rows - 1);
        // The last row of the tile sees the latest key, the first one the earliest: no row sees a key of this
        // block.
        if (first_seen(t) >= n) continue;
        score_tiles({queries_ + (h * tokens_ + t) * plan_.depth, depth, 1}, rows, packed_, n, plan_.depth,
                    scores_, items_.block_keys_);
        scale(plan_.keys, rows, key_, n);
        for (size_t i = 0; i < rows; ++i) weigh_seen(t + i, h, n, scores_ + i * items_.block_keys_);
        scale(plan_.values, rows, key_, n);
        add_value_tiles(scores_, items_.block_keys_, rows, {values, depth, 1}, n, plan_.depth, false,
                        sums(t, h), static_cast<ptrdiff_t>(plan_.heads) * depth);
      }
    }
  }

  // The rows of the block as float32, before scaling.
  const float* block(const CacheTensor& cache) {
    const size_t n = keys_ * plan_.depth;
    if (plan_.cache_type == ScalarType::Float) return cache.row<float>(row(key_), plan_.depth);
    if (plan_.cache_type == ScalarType::Half) {
      ukernel::half_to_f32(n, cache.row<uint16_t>(row(key_), plan_.depth), converted_);
    } else {
      ukernel::i8_to_f32(n, cache.row<int8_t>(row(key_), plan_.depth), converted_);
    }
    return converted_;
  }

  // Sets the weights of keys that the token does not see to 0.
  void weigh_seen(size_t t, size_t h, size_t n, float* scores) {
    const size_t last = std::min(last_seen(t), n);
    const size_t first = std::min(first_seen(t), last);
    std::memset(scores, 0, first * sizeof(float));
    std::memset(scores + last, 0, (n - last) * sizeof(float));
    if (first < last) weigh(t, h, last - first, scores + first);
  }

  // Converts scores of n keys to softmax weights, and rescales the row's sums to the new largest score.
  void weigh(size_t t, size_t h, size_t n, float* scores) {
    // softcap * tanh(score * scale / softcap); the softmax then scales by the softcap.
    float scale = plan_.scale;
    if (plan_.softcap != 0) {
      ukernel::attention_scale(n, scores, plan_.scale / plan_.softcap);
      ukernel::tanh_f32(n, scores, scores);
      scale = plan_.softcap;
    }
    const size_t at = state(t, h);
    const float factor = ukernel::attention_weights(n, scores, scale, nullptr, shifts_ + at, totals_ + at);
    if (factor != 1.0f) ukernel::attention_scale(plan_.depth, sums(t, h), factor);
  }

  // Multiplies rows of scores or weights by the scales of their keys or values, if the cache is quantized.
  void scale(const CacheTensor& cache, size_t rows, size_t key, size_t n) {
    if (cache.scales == nullptr) return;
    const auto stride = static_cast<ptrdiff_t>(items_.block_keys_ * sizeof(float));
    ukernel::mul_f32(
        {rows, n, {{scores_, stride, false}, {cache.scales + row(key), 0, false}, {}}, scores_, stride});
  }

  void divide() {
    for (size_t t = 0; t < tokens_; ++t) {
      for (size_t h = 0; h < group_; ++h) {
        ukernel::attention_scale(plan_.depth, sums(t, h), 1.0f / totals_[state(t, h)]);
      }
    }
  }

  const AttentionItems& items_;
  const CachedAttention& plan_;
  size_t group_;
  size_t head_ = 0;
  size_t first_token_ = 0;
  size_t tokens_ = 0;
  size_t begin_ = 0;  // keys of the item
  size_t end_ = 0;
  size_t key_ = 0;  // current block
  size_t keys_ = 0;
  float* scores_;
  float* packed_ = nullptr;
  float* converted_ = nullptr;
  float* queries_ = nullptr;
  float* sums_ = nullptr;  // [tokens of the call][heads][depth]
  float* shifts_ = nullptr;
  float* totals_ = nullptr;
};

void AttentionItems::compute(size_t item, float* scratch, float* partials) const {
  AttentionWorker(*this, item, scratch, partials).compute();
}

// Converts the totals to factors of the partial sums, then adds those as a matrix product of one row.
void AttentionItems::merge(size_t row, float* partials) const {
  const size_t step = partial_floats();
  const size_t rows = plan_.tokens * plan_.heads;
  const float* const shifts = partials + rows * plan_.depth + row;
  float* const totals = partials + rows * (plan_.depth + 1) + row;
  float largest = -std::numeric_limits<float>::infinity();
  for (size_t r = 0; r < ranges_; ++r) largest = std::max(largest, shifts[r * step]);
  float total = 0;
  for (size_t r = 0; r < ranges_; ++r) {
    const float shift = shifts[r * step];
    // A range without a visible key has shift -inf and weighs nothing.
    const float factor = std::isinf(shift) && shift < 0 ? 0.0f : std::exp(shift - largest);
    total += totals[r * step] * factor;
    totals[r * step] = factor;
  }
  const float inverse = 1.0f / total;
  for (size_t r = 0; r < ranges_; ++r) totals[r * step] *= inverse;
  const float* pointers[1] = {totals};
  ukernel::GemmTile tile;
  tile.rows = 1;
  tile.depth = ranges_;
  tile.a = pointers;
  // 1 x ranges times ranges x depth: both factors are read where the ranges left them, partial_floats()
  // apart.
  tile.a_step = static_cast<ptrdiff_t>(step);
  tile.b_stride = static_cast<ptrdiff_t>(step);
  for (size_t column = 0; column < plan_.depth; column += ukernel::gemm_columns()) {
    tile.b = partials + row * plan_.depth + column;
    tile.b_columns = plan_.depth - column;
    tile.columns = std::min(tile.b_columns, ukernel::gemm_columns());
    tile.c = plan_.out + row * plan_.depth + column;
    ukernel::gemm_tile(tile);
  }
}

}  // namespace rushlight::kernels::host
