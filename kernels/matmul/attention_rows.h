// SPDX-License-Identifier: BSD-3-Clause
// Attention one row of the result at a time: of every layout, and without scratch memory.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/elements/element.h"
#include "kernels/matmul/accumulator.h"
#include "kernels/matmul/attention.h"

namespace rushlight::kernels {

// Scores of so many keys, and sums of so many columns, are held on the stack at once.
inline constexpr size_t kAttentionKeys = 16;
inline constexpr size_t kAttentionColumns = 64;

template <class T>
inline T* element_at(const HeadMatrix& matrix, size_t row, size_t column) {
  return reinterpret_cast<T*>(matrix.data + matrix.row * static_cast<ptrdiff_t>(row) +
                              matrix.column * static_cast<ptrdiff_t>(column));
}

// What the mask adds to a score.
template <class T, class A>
inline A mask_at(const HeadMatrix& mask, ScalarType type, size_t query, size_t key) {
  if (type == ScalarType::Bool) {
    return load(element_at<bool>(mask, query, key)) ? A(0) : -std::numeric_limits<A>::infinity();
  }
  if (type == scalar_type_of<T>) return static_cast<A>(*element_at<T>(mask, query, key));
  return static_cast<A>(*element_at<float>(mask, query, key));
}

// One row of the result: softmax over the keys seen so far, carried on a block at a time by the largest
// score and by sums that are scaled when a larger one comes.
template <class T>
class AttentionRow {
 public:
  using A = Accumulator<T>;

  AttentionRow(const AttentionPlan& plan, const AttentionPlan::Head& head, size_t query)
      : plan_(plan), head_(head), query_(query) {}

  // Columns first to first + count, at most kAttentionColumns.
  void compute(size_t first, size_t count) {
    A sums[kAttentionColumns] = {};
    A sum = 0;
    A shift = -std::numeric_limits<A>::infinity();
    const size_t end = plan_.keys_of(query_);
    for (size_t key = 0; key < end; key += kAttentionKeys) {
      const size_t n = end - key < kAttentionKeys ? end - key : kAttentionKeys;
      A weights[kAttentionKeys];
      const A factor = weigh(key, n, &shift, weights);
      A block = 0;
      for (size_t k = 0; k < n; ++k) block += weights[k];
      sum = sum * factor + block;
      for (size_t c = 0; c < count; ++c) {
        A product = 0;
        for (size_t k = 0; k < n; ++k) product += weights[k] * at(head_.value, key + k, first + c);
        sums[c] = sums[c] * factor + product;
      }
    }
    // A row that sees no key is 0; so PyTorch has it.
    const A scale = sum == A(0) ? A(0) : A(1) / sum;
    for (size_t c = 0; c < count; ++c) {
      *element_at<T>(head_.out, query_, first + c) = narrow<T>(sums[c] * scale);
    }
  }

 private:
  static A at(const HeadMatrix& matrix, size_t row, size_t column) {
    return widen(*element_at<T>(matrix, row, column));
  }

  // Weights of n keys, relative to the largest score up to them; returns what earlier ones are scaled by.
  A weigh(size_t key, size_t n, A* shift, A* weights) const {
    A largest = *shift;
    for (size_t k = 0; k < n; ++k) {
      weights[k] = score(key + k);
      if (weights[k] > largest) largest = weights[k];
    }
    // With nothing but -inf there is nothing to shift: the weights are 0, and NaN stays NaN.
    const A lowest = -std::numeric_limits<A>::infinity();
    const A subtracted = largest == lowest ? A(0) : largest;
    for (size_t k = 0; k < n; ++k) weights[k] = std::exp(weights[k] - subtracted);
    const A factor = *shift == lowest ? A(1) : std::exp(*shift - subtracted);
    *shift = largest;
    return factor;
  }

  A score(size_t key) const {
    A sum = 0;
    for (size_t d = 0; d < plan_.depth(); ++d) sum += at(head_.query, query_, d) * at(head_.key, key, d);
    sum *= static_cast<A>(plan_.scale());
    return plan_.has_mask() ? sum + mask_at<T, A>(head_.mask, plan_.mask_type(), query_, key) : sum;
  }

  const AttentionPlan& plan_;
  const AttentionPlan::Head& head_;
  size_t query_;
};

template <class T>
void attend_by_rows(const AttentionPlan& plan) {
  for (size_t index = 0; index < plan.heads(); ++index) {
    const AttentionPlan::Head head = plan.head(index);
    for (size_t row = 0; row < plan.queries(); ++row) {
      for (size_t first = 0; first < plan.width(); first += kAttentionColumns) {
        const size_t left = plan.width() - first;
        AttentionRow<T>(plan, head, row).compute(first, left < kAttentionColumns ? left : kAttentionColumns);
      }
    }
  }
}

}  // namespace rushlight::kernels
