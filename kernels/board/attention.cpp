// SPDX-License-Identifier: BSD-3-Clause
// A block of queries times a block of keys, with online softmax (Milakov and Gimelshein, 2018). The functions
// of product.h compute both products, and the sums of values stay in `out`. Any strides; no scratch memory.
// Products need queries x keys x (depth + width) multiply-adds; packing panels costs a pass over keys and
// values for each kBlockRows queries, and rescaling one over `out` for each block of keys.
#include "kernels/backs/attention.h"

#include <algorithm>

#include "kernels/board/product.h"
#include "kernels/matmul/attention_rows.h"
#include "kernels/ukernel/attention.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::kernels::board {

namespace {

using ukernel::kPanelColumns;

// A block has whole tiles of product.h, and more keys if it has fewer queries.
constexpr size_t kBlockRows = 24;
constexpr size_t kBlockKeys = std::max<size_t>(24 / kPanelColumns, 1) * kPanelColumns;
constexpr size_t kScores = kBlockRows * kBlockKeys;  // queries times keys, on the stack

// The rows of a head's matrix from `row` on, with strides in elements.
Matrix rows_of(const HeadMatrix& head, size_t row) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  return {element_at<float>(head, row, 0), head.row / kBytes, head.column / kBytes};
}

Matrix transposed(const Matrix& matrix) { return {matrix.data, matrix.column_stride, matrix.row_stride}; }

// Rows [first, first + rows) of the result of one head, with at most kBlockRows rows.
class Block {
 public:
  // `factor` is the plan's scale.
  Block(const AttentionPlan& plan, float factor, const AttentionPlan::Head& head, size_t first)
      : plan_(plan),
        head_(head),
        factor_(factor),
        first_(first),
        rows_(std::min(kBlockRows, plan.queries() - first)),
        stride_(kScores / rows_ / kPanelColumns * kPanelColumns) {
    out_.rows = rows_;
    out_.out = rows_of(head.out, first);
    out_.columns = plan.width();
    out_.a = {scores_, static_cast<ptrdiff_t>(stride_), 1};
    scored_.rows = rows_;
    scored_.depth = plan.depth();
    scored_.a = rows_of(head.query, first);
    scored_.out = out_.a;
  }

  void compute() {
    for (size_t i = 0; i < rows_; ++i) {
      shift_[i] = -std::numeric_limits<float>::infinity();
      sum_[i] = 0;
    }
    const size_t last = plan_.keys_of(first_ + rows_ - 1);
    size_t key = 0;
    // Without keys, a product of depth 0 sets `out` to 0.
    do {
      const size_t keys = std::min(stride_, last - key);
      scored_.columns = keys;
      scored_.b = transposed(rows_of(head_.key, key));
      multiply_floats(scored_, stride_);
      for (size_t i = 0; i < rows_; ++i) weigh(i, key, keys);
      out_.depth = keys;
      out_.b = rows_of(head_.value, key);
      out_.bias = key == 0 ? Matrix() : out_.out;
      multiply_floats(out_);
      key += keys;
    } while (key < last);
    // A row that sees no key is 0, as in PyTorch.
    for (size_t i = 0; i < rows_; ++i) scale(i, sum_[i] == 0 ? 0 : 1 / sum_[i]);
  }

 private:
  // Replaces the scores of row i by weights relative to its largest score so far. Keys that it does not see
  // get weight 0.
  void weigh(size_t i, size_t key, size_t keys) {
    float* const scores = scores_ + i * stride_;
    const size_t seen = std::max(plan_.keys_of(first_ + i), key) - key;
    const size_t count = std::min(seen, keys);
    std::fill(scores + count, scores + keys, 0.0F);
    if (count == 0) return;
    float factor = factor_;
    const float* mask = nullptr;
    if (plan_.has_mask() && plan_.mask_type() == ScalarType::Float && head_.mask.column == sizeof(float)) {
      mask = element_at<float>(head_.mask, first_ + i, key);
    } else if (plan_.has_mask()) {
      for (size_t j = 0; j < count; ++j) {
        scores[j] =
            scores[j] * factor + mask_at<float, float>(head_.mask, plan_.mask_type(), first_ + i, key + j);
      }
      factor = 1;
    }
    const float rescale = ukernel::attention_weights(count, scores, factor, mask, &shift_[i], &sum_[i]);
    if (key > 0 && rescale != 1) scale(i, rescale);
  }

  // out[i] *= factor.
  void scale(size_t i, float factor) const {
    float* to = element_at<float>(head_.out, first_ + i, 0);
    const ptrdiff_t step = out_.out.column_stride;
    if (step == 1) return ukernel::attention_scale(plan_.width(), to, factor);
    for (size_t c = 0; c < plan_.width(); ++c, to += step) *to *= factor;
  }

  const AttentionPlan& plan_;
  const AttentionPlan::Head& head_;
  float factor_;
  size_t first_;
  size_t rows_;
  size_t stride_;   // of the rows of scores: the most keys of a block
  Product scored_;  // queries times keys
  Product out_;     // weights times values
  float scores_[kScores];
  float shift_[kBlockRows];
  float sum_[kBlockRows];
};

}  // namespace

Error attention(KernelContext&, const AttentionProblem& problem) {
  const AttentionPlan& plan = problem.plan;
  const auto factor = static_cast<float>(plan.scale());
  for (size_t index = 0; index < plan.heads(); ++index) {
    const AttentionPlan::Head head = plan.head(index);
    for (size_t row = 0; row < plan.queries(); row += kBlockRows) {
      Block(plan, factor, head, row).compute();
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
