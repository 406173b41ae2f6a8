// SPDX-License-Identifier: BSD-3-Clause
// A block of queries times a block of keys, with online softmax (Milakov and Gimelshein, 2018). The functions
// of product.h compute both products, and the sums of values stay in `out`. Float16 takes half_product.h,
// with the sums on the stack. Any strides; no scratch memory. Products need queries x keys x (depth + width)
// multiply-adds; packing panels costs a pass over keys and values for each block of queries, and rescaling
// one over the sums for each block of keys.
#include "kernels/backs/attention.h"

#include <algorithm>
#include <type_traits>

#include "kernels/board/half_product.h"
#include "kernels/board/product.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/attention_rows.h"
#include "kernels/ukernel/attention.h"
#include "kernels/ukernel/panel.h"
#include "kernels/ukernel/patch.h"

namespace rushlight::kernels::board {

namespace {

using ukernel::kPanelColumns;

// A block has whole tiles of sums. Float16 has blocks of half as many queries, and of kAttentionColumns
// columns of the result; wider results compute their scores again.
template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Half>;
template <class T>
constexpr size_t kBlockRows = kIsHalf<T> ? 12 : 24;
constexpr size_t kBlockKeys = std::max<size_t>(24 / kPanelColumns, 1) * kPanelColumns;

// The matrix of a head's elements from (row, column) on, with strides in elements.
template <class T>
Matrix part_of(const HeadMatrix& head, size_t row, size_t column = 0) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(T));
  return {element_at<T>(head, row, column), head.row / kBytes, head.column / kBytes};
}

Matrix transposed(const Matrix& matrix) { return {matrix.data, matrix.column_stride, matrix.row_stride}; }

// Rows [first, first + rows) of the result of one head, with at most kBlockRows rows.
template <class T>
class Block {
 public:
  // `factor` is the plan's scale.
  Block(const AttentionPlan& plan, float factor, const AttentionPlan::Head& head, size_t first)
      : plan_(plan),
        head_(head),
        factor_(factor),
        first_(first),
        rows_(std::min(kBlockRows<T>, plan.queries() - first)),
        // Fewer queries have more keys.
        stride_(kScores / rows_ / kPanelColumns * kPanelColumns) {
    out_.rows = rows_;
    out_.a = {scores_, static_cast<ptrdiff_t>(stride_), 1};
    scored_.rows = rows_;
    scored_.depth = plan.depth();
    scored_.a = part_of<T>(head.query, first);
    scored_.out = out_.a;
  }

  // Computes columns [column, column + columns): all of them, or at most kAttentionColumns of float16.
  void compute(size_t column, size_t columns) {
    out_.columns = columns;
    if constexpr (kIsHalf<T>) {
      out_.out = {sums_, static_cast<ptrdiff_t>(columns), 1};
    } else {
      out_.out = part_of<T>(head_.out, first_, column);
    }
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
      scored_.b = transposed(part_of<T>(head_.key, key));
      out_.depth = keys;
      out_.b = part_of<T>(head_.value, key, column);
      out_.bias = key == 0 ? Matrix() : out_.out;
      multiply(scored_, {false, true}, stride_);
      for (size_t i = 0; i < rows_; ++i) weigh(i, key, keys);
      multiply(out_, {true, true}, 0);
      key += keys;
    } while (key < last);
    // A row that sees no key is 0, as in PyTorch.
    for (size_t i = 0; i < rows_; ++i) scale(i, sum_[i] == 0 ? 0 : 1 / sum_[i]);
    if constexpr (kIsHalf<T>) {
      const Matrix to = part_of<T>(head_.out, first_, column);
      ukernel::narrow_block(static_cast<uint16_t*>(to.data), {to.row_stride, to.column_stride}, sums_,
                            {out_.out.row_stride, 1}, rows_, columns);
    }
  }

 private:
  static constexpr size_t kScores = kBlockRows<T> * kBlockKeys;

  static void multiply(const Product& product, [[maybe_unused]] FloatMatrices floats,
                       [[maybe_unused]] size_t width) {
    if constexpr (kIsHalf<T>) {
      multiply_halves(product, 1, product.bias.data == nullptr ? 0 : 1, floats);
    } else {
      multiply_floats(product, width);
    }
  }

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
            scores[j] * factor + mask_at<T, float>(head_.mask, plan_.mask_type(), first_ + i, key + j);
      }
      factor = 1;
    }
    const float rescale = ukernel::attention_weights(count, scores, factor, mask, &shift_[i], &sum_[i]);
    if (key > 0 && rescale != 1) scale(i, rescale);
  }

  // out[i] *= factor.
  void scale(size_t i, float factor) const {
    float* to = static_cast<float*>(out_.out.data) + static_cast<ptrdiff_t>(i) * out_.out.row_stride;
    const ptrdiff_t step = out_.out.column_stride;
    if (step == 1) return ukernel::attention_scale(out_.columns, to, factor);
    for (size_t c = 0; c < out_.columns; ++c, to += step) *to *= factor;
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
  float sums_[kIsHalf<T> ? kBlockRows<T> * kAttentionColumns : 1];
  float shift_[kBlockRows<T>];
  float sum_[kBlockRows<T>];
};

template <class T>
void attend(const AttentionPlan& plan) {
  const auto factor = static_cast<float>(plan.scale());
  const size_t at_once = kIsHalf<T> ? kAttentionColumns : plan.width();
  for (size_t index = 0; index < plan.heads(); ++index) {
    const AttentionPlan::Head head = plan.head(index);
    for (size_t row = 0; row < plan.queries(); row += kBlockRows<T>) {
      Block<T> block(plan, factor, head, row);
      for (size_t column = 0; column < plan.width(); column += at_once) {
        block.compute(column, std::min(at_once, plan.width() - column));
      }
    }
  }
}

constexpr TypeSet kTypes = selected_types("aten::scaled_dot_product_attention.out") |
                           selected_types("llama::custom_sdpa.out") |
                           selected_types("llama::sdpa_with_kv_cache.out");

}  // namespace

Error attention(KernelContext&, const AttentionProblem& problem) {
  if constexpr (contains(kTypes, ScalarType::Half)) {
    if (problem.type() == ScalarType::Half) attend<Half>(problem.plan);
  }
  if constexpr (contains(kTypes, ScalarType::Float)) {
    if (problem.type() == ScalarType::Float) attend<float>(problem.plan);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
