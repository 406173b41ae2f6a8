// SPDX-License-Identifier: BSD-3-Clause
// Attention by blocks with online softmax: a block of queries is multiplied by a block of keys, so the scores
// stay in cache, and the sums are rescaled from block to block to the largest score so far. Memory does not
// grow with the number of keys. References: Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018; Dao et al., "FlashAttention", 2022.
#include "kernels/backs/attention.h"

#include <algorithm>
#include <cstring>

#include "kernels/host/attention/pieces.h"
#include "kernels/host/attention/tiles.h"
#include "kernels/host/attention/widened_heads.h"
#include "kernels/host/parts.h"
#include "kernels/matmul/attention_rows.h"
#include "kernels/ukernel/attention.h"
#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kMostKeys = 256;   // largest size of a single block
constexpr size_t kBlockKeys = 128;  // size of each of several blocks
constexpr size_t kTiles = 4;        // tiles of queries in a block
constexpr size_t kFewQueries = 4;   // at most: packing the keys costs more than it saves

const float* floats(const HeadMatrix& matrix, size_t row, size_t column = 0) {
  return element_at<float>(matrix, row, column);
}

ptrdiff_t in_floats(ptrdiff_t bytes) { return bytes / static_cast<ptrdiff_t>(sizeof(float)); }

FloatRows rows_of(const HeadMatrix& matrix, size_t row) {
  return {floats(matrix, row), in_floats(matrix.row), in_floats(matrix.column)};
}

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// Sizes of blocks, and the scratch memory of a thread in floats. Layout: packed keys [keys x depth], scores
// [rows][keys], one row of a converted mask [keys], and largest score and sum of each carried row.
struct Blocks {
  Blocks(size_t num_queries, size_t num_keys, size_t depth)
      : panel(ukernel::gemm_columns()),
        rows(std::max<size_t>(std::min(ukernel::gemm_rows() * kTiles, num_queries), 1)),
        keys(round_up(num_keys <= kMostKeys ? num_keys : kBlockKeys, panel)),
        carried(num_keys <= keys ? rows : num_queries),
        packed(num_queries <= kFewQueries ? 0 : keys * depth) {}

  [[nodiscard]] size_t bytes() const {
    return round_up((packed + rows * keys + keys + 2 * carried) * sizeof(float), 64);
  }

  size_t panel;
  size_t rows;     // queries in a block
  size_t keys;     // keys in a block, in whole panels
  size_t carried;  // rows whose largest score and sum are kept
  size_t packed;
};

// Reads heads that are already float32.
class PlainHeads {
 public:
  static size_t bytes(const AttentionPlan&, size_t) { return 0; }
  PlainHeads(const AttentionProblem& problem, size_t, void*) : plan_(problem.plan) {}

  [[nodiscard]] AttentionPlan::Head load(size_t index, size_t, size_t) {
    head_ = plan_.head(index);
    return head_;
  }
  [[nodiscard]] FloatRows keys(size_t first, size_t) const { return rows_of(head_.key, first); }
  [[nodiscard]] FloatRows values(size_t first, size_t) const { return rows_of(head_.value, first); }
  void store(size_t, size_t) const {}

 private:
  const AttentionPlan& plan_;
  AttentionPlan::Head head_;
};

// Computes heads one after the other. Reader converts a head to float32 and stores rows of the result:
// PlainHeads or WidenedHeads. With shift m, sum l and result o of a row so far, a block with scores s_j and
// values v_j gives
//
//   m' = max(m, s_j)   f = exp(m - m')   w_j = exp(s_j - m')   l' = f l + sum w_j   o' = f o + sum w_j v_j
//
// and the row ends as o / l.
template <class Reader>
class Worker {
 public:
  Worker(const AttentionPlan& plan, const Blocks& blocks, Reader& reader, void* scratch)
      : plan_(plan),
        blocks_(blocks),
        reader_(reader),
        packed_(static_cast<float*>(scratch)),
        scores_(packed_ + blocks.packed),
        mask_(scores_ + blocks.rows * blocks.keys),
        shift_(mask_ + blocks.keys),
        sum_(shift_ + blocks.carried) {}

  // Computes rows [begin, end) of the result of one head.
  void compute(size_t head, size_t begin, size_t end) {
    head_ = reader_.load(head, begin, end);
    packs_ = blocks_.packed != 0;
    // Keys are the outer loop: a block of keys is packed once for all rows of the piece.
    const size_t last = plan_.keys_of(end - 1);
    for (first_key_ = 0; first_key_ < last; first_key_ += blocks_.keys) {
      num_keys_ = std::min(last - first_key_, blocks_.keys);
      keys_ = reader_.keys(first_key_, num_keys_);
      values_ = reader_.values(first_key_, num_keys_);
      if (packs_) pack_keys(keys_, num_keys_, plan_.depth(), packed_);
      for (size_t row = begin; row < end; row += blocks_.rows) {
        // With one block of keys a block of rows is finished at once, so all share the memory of its state.
        const size_t state = blocks_.carried == blocks_.rows ? 0 : row - begin;
        compute_block(row, std::min(end - row, blocks_.rows), shift_ + state, sum_ + state);
      }
    }
    reader_.store(begin, end);
  }

 private:
  // Queries [row, row + rows) with the current block of keys.
  void compute_block(size_t row, size_t rows, float* shift, float* sum) {
    const size_t end = plan_.keys_of(row + rows - 1);  // of the keys that at least one row sees
    if (end <= first_key_) return;
    const size_t n = std::min(end - first_key_, num_keys_);
    score(row, rows, n);
    for (size_t r = 0; r < rows; ++r) weigh(row + r, n, scores_ + r * blocks_.keys, shift + r, sum + r);
    add_values(row, rows, n);
    // The last block of keys that the rows see: divides by the sums.
    if (first_key_ + n < end) return;
    for (size_t r = 0; r < rows; ++r) {
      // A row that sees no key is 0, as in PyTorch.
      ukernel::attention_scale(plan_.width(), out(row + r), sum[r] == 0.0f ? 0.0f : 1.0f / sum[r]);
    }
  }

  void score(size_t row, size_t rows, size_t n) {
    if (!packs_) {
      for (size_t r = 0; r < rows; ++r) {
        ukernel::attention_scores(n, plan_.depth(), floats(head_.query, row + r), keys_.data, keys_.row,
                                  scores_ + r * blocks_.keys);
      }
      return;
    }
    score_tiles(rows_of(head_.query, row), rows, packed_, n, plan_.depth(), scores_, blocks_.keys);
  }

  // Converts scores to softmax weights, and rescales the row's result so far to the new largest score.
  void weigh(size_t row, size_t n, float* scores, float* shift, float* sum) {
    if (first_key_ == 0) {
      *shift = -std::numeric_limits<float>::infinity();
      *sum = 0;
    }
    const size_t end = plan_.keys_of(row);
    const size_t seen = end <= first_key_ ? 0 : std::min(end - first_key_, n);
    // Keys behind the row's own position have weight 0 in the product with the values.
    std::memset(scores + seen, 0, (n - seen) * sizeof(float));
    if (seen == 0) return;
    const float factor = ukernel::attention_weights(seen, scores, static_cast<float>(plan_.scale()),
                                                    mask_of(row, seen), shift, sum);
    if (first_key_ != 0 && factor != 1.0f) ukernel::attention_scale(plan_.width(), out(row), factor);
  }

  const float* mask_of(size_t row, size_t n) {
    if (!plan_.has_mask()) return nullptr;
    if (plan_.mask_type() == ScalarType::Float && head_.mask.column == sizeof(float)) {
      return floats(head_.mask, row, first_key_);
    }
    for (size_t key = 0; key < n; ++key) mask_[key] = mask_of_key(row, first_key_ + key);
    return mask_;
  }

  [[nodiscard]] float mask_of_key(size_t row, size_t key) const {
    if (plan_.mask_type() == ScalarType::BFloat16) {
      return mask_at<BFloat16, float>(head_.mask, ScalarType::BFloat16, row, key);
    }
    return mask_at<Half, float>(head_.mask, plan_.mask_type(), row, key);
  }

  void add_values(size_t row, size_t rows, size_t n) {
    add_value_tiles(scores_, blocks_.keys, rows, values_, n, plan_.width(), first_key_ == 0, out(row),
                    in_floats(head_.out.row));
  }

  [[nodiscard]] float* out(size_t row) const { return element_at<float>(head_.out, row, 0); }

  const AttentionPlan& plan_;
  const Blocks& blocks_;
  Reader& reader_;
  float* packed_;
  float* scores_;
  float* mask_;
  float* shift_;
  float* sum_;
  AttentionPlan::Head head_;
  FloatRows keys_;  // current block
  FloatRows values_;
  bool packs_ = false;
  size_t first_key_ = 0;
  size_t num_keys_ = 0;
};

// True if rows of values and of the result are contiguous, and rows of queries and keys too unless these get
// packed. The portable code computes other layouts, which no exporter makes.
bool has_plain_rows(const AttentionPlan& plan) {
  constexpr ptrdiff_t kStep = sizeof(float);
  const AttentionPlan::Head head = plan.head(0);
  const bool packs = plan.queries() > kFewQueries;
  const bool scores = packs || plan.depth() == 1 || (head.query.column == kStep && head.key.column == kStep);
  return scores && (plan.width() == 1 || (head.value.column == kStep && head.out.column == kStep));
}

// Computes all heads in blocks of rows on several threads. Returns false if scratch memory is too small for
// one thread.
template <class Reader>
bool attend_in_pieces(KernelContext& context, const AttentionProblem& problem) {
  const AttentionPlan& plan = problem.plan;
  const Blocks blocks(plan.queries(), plan.keys(), plan.depth());
  // The unit of work is a block of rows of one head. Pieces are consecutive, so that a thread packs the keys
  // of a head once for many of them.
  const size_t in_head = (plan.queries() + blocks.rows - 1) / blocks.rows;
  const size_t count = plan.heads() * in_head;
  const size_t work = plan.heads() * plan.queries() * plan.keys() * (plan.depth() + plan.width());
  const size_t most = std::min(count, work / kThreadProducts + 1);
  Pieces pieces(context, most, blocks.bytes() + Reader::bytes(plan, blocks.keys));
  if (pieces.empty()) return false;
  pieces.run([&](size_t piece, size_t num_pieces, void* scratch) {
    Reader reader(problem, blocks.keys, static_cast<char*>(scratch) + blocks.bytes());
    Worker<Reader> worker(plan, blocks, reader, scratch);
    const size_t end = (piece + 1) * count / num_pieces;
    for (size_t i = piece * count / num_pieces; i < end;) {
      const size_t head = i / in_head;
      const size_t next = std::min(end, (head + 1) * in_head);
      worker.compute(head, (i - head * in_head) * blocks.rows,
                     std::min((next - head * in_head) * blocks.rows, plan.queries()));
      i = next;
    }
  });
  return true;
}

}  // namespace

std::optional<Error> attention(KernelContext& context, const AttentionProblem& problem) {
  const AttentionPlan& plan = problem.plan;
  if (problem.out.numel() == 0) return Error::Ok;
  if (plan.keys() == 0) return std::nullopt;
  const bool plain = problem.type() == ScalarType::Float;
  if (plain ? !has_plain_rows(plan) : !WidenedHeads::takes(problem)) return std::nullopt;
  const bool done = plain ? attend_in_pieces<PlainHeads>(context, problem)
                          : attend_in_pieces<WidenedHeads>(context, problem);
  if (!done) return std::nullopt;
  return Error::Ok;
}

Error attention_prepare(KernelContext& context, const AttentionProblem& problem) {
  const AttentionPlan& plan = problem.plan;
  // At run time fewer keys may form one larger block.
  const size_t keys = std::min(plan.keys(), kMostKeys);
  const Blocks all(plan.queries(), plan.keys(), plan.depth());
  const Blocks fewer(plan.queries(), keys, plan.depth());
  context.need_products(2 * plan.heads() * plan.queries() * plan.keys() * plan.depth());
  size_t bytes = std::max(all.bytes(), fewer.bytes());
  if (problem.type() != ScalarType::Float) bytes += WidenedHeads::bytes(plan, std::max(all.keys, fewer.keys));
  context.need_scratch(context.threads() * (bytes + 64));
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
