// SPDX-License-Identifier: BSD-3-Clause
// Attention one row of the result at a time, with online softmax: for any layout, without scratch memory.
// Reads a key's scores and values together and never stores a row of scores. Reference: Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/elements/element.h"
#include "kernels/matmul/accumulator.h"
#include "kernels/matmul/attention.h"

namespace rushlight::kernels {

// Number of scores, and of result columns, on the stack at a time. Results wider than kAttentionColumns
// compute their scores again for each block of columns; more keys together mean fewer rescalings of the sums.
inline constexpr size_t kAttentionKeys = 16;
inline constexpr size_t kAttentionColumns = 64;

// The address of element (row, column); T must be the matrix's element type.
template <class T>
inline T* element_at(const HeadMatrix& matrix, size_t row, size_t column) {
  return reinterpret_cast<T*>(matrix.data + matrix.row * static_cast<ptrdiff_t>(row) +
                              matrix.column * static_cast<ptrdiff_t>(column));
}

// The term that the mask adds to a score: 0 or -inf for bool, the element for the head's dtype or float32.
template <class T, class A>
inline A mask_at(const HeadMatrix& mask, ScalarType type, size_t query, size_t key) {
  if (type == ScalarType::Bool) {
    return load(element_at<bool>(mask, query, key)) ? A(0) : -std::numeric_limits<A>::infinity();
  }
  if (type == scalar_type_of<T>) return static_cast<A>(*element_at<T>(mask, query, key));
  return static_cast<A>(*element_at<float>(mask, query, key));
}

// Reads one head whose elements all have dtype T. op_custom_quantized_sdpa.cpp has the same interface for
// int8 with a scale for each token.
template <class T>
class PlainHead {
 public:
  using Element = T;
  using A = Accumulator<T>;

  PlainHead(const AttentionPlan::Head& head, size_t depth) : head_(head), depth_(depth) {}

  // The unscaled score of a query and a key, as one sum in order of depth.
  [[nodiscard]] A dot(size_t query, size_t key) const {
    A sum = 0;
    for (size_t d = 0; d < depth_; ++d) sum += at(head_.query, query, d) * at(head_.key, key, d);
    return sum;
  }

  // Adds `weight` times columns [first, first + count) of the key's value.
  void add_value(size_t key, A weight, size_t first, size_t count, A* sums) const {
    for (size_t c = 0; c < count; ++c) sums[c] += weight * at(head_.value, key, first + c);
  }

 private:
  static A at(const HeadMatrix& matrix, size_t row, size_t column) {
    return widen(*element_at<T>(matrix, row, column));
  }

  AttentionPlan::Head head_;
  size_t depth_;
};

// One row of the result. Softmax is online: sums are relative to the largest score so far, and are rescaled
// when a larger one appears. `Numbers` reads the elements of the head, see PlainHead. Keeps references to all
// arguments of the constructor.
//
//   m' = max(m, block's largest)   sums' = sums * exp(m - m') + sum over the block of exp(score - m') * value
template <class Numbers>
class AttentionRow {
 public:
  using T = typename Numbers::Element;
  using A = typename Numbers::A;

  AttentionRow(const AttentionPlan& plan, const AttentionPlan::Head& head, const Numbers& numbers,
               size_t query)
      : plan_(plan), head_(head), numbers_(numbers), query_(query) {}

  // Computes columns [first, first + count); count is at most kAttentionColumns. Keys beyond keys_of() are
  // not read. Accumulates in A, float for 16-bit floats, and rounds each element once.
  void compute(size_t first, size_t count) {
    A sums[kAttentionColumns] = {};
    A sum = 0;
    A shift = -std::numeric_limits<A>::infinity();
    const size_t end = plan_.keys_of(query_);
    for (size_t key = 0; key < end; key += kAttentionKeys) {
      const size_t n = end - key < kAttentionKeys ? end - key : kAttentionKeys;
      A weights[kAttentionKeys];
      const A factor = weigh(key, n, &shift, weights);
      // The block is summed first, so that the total adds fewer terms one after the other.
      A block = 0;
      for (size_t k = 0; k < n; ++k) block += weights[k];
      sum = sum * factor + block;
      for (size_t c = 0; c < count; ++c) sums[c] *= factor;
      for (size_t k = 0; k < n; ++k) numbers_.add_value(key + k, weights[k], first, count, sums);
    }
    // A row that sees no key is 0, as in PyTorch.
    const A scale = sum == A(0) ? A(0) : A(1) / sum;
    for (size_t c = 0; c < count; ++c) {
      *element_at<T>(head_.out, query_, first + c) = narrow<T>(sums[c] * scale);
    }
  }

 private:
  // Computes the weights of n keys relative to the largest score up to them; returns the factor for earlier
  // sums.
  A weigh(size_t key, size_t n, A* shift, A* weights) const {
    A largest = *shift;
    for (size_t k = 0; k < n; ++k) {
      weights[k] = score(key + k);
      if (weights[k] > largest) largest = weights[k];
    }
    // If all scores are -inf nothing is subtracted: the weights are 0, and NaN stays NaN.
    const A lowest = -std::numeric_limits<A>::infinity();
    const A subtracted = largest == lowest ? A(0) : largest;
    for (size_t k = 0; k < n; ++k) weights[k] = std::exp(weights[k] - subtracted);
    // Before the first finite score the earlier sums are 0 and need no rescaling.
    const A factor = *shift == lowest ? A(1) : std::exp(*shift - subtracted);
    *shift = largest;
    return factor;
  }

  // Score times scale, plus the mask's term.
  A score(size_t key) const {
    const A sum = numbers_.dot(query_, key) * static_cast<A>(plan_.scale());
    return plan_.has_mask() ? sum + mask_at<T, A>(head_.mask, plan_.mask_type(), query_, key) : sum;
  }

  const AttentionPlan& plan_;
  const AttentionPlan::Head& head_;
  const Numbers& numbers_;
  size_t query_;
};

// Computes all heads, one after the other. numbers_of(index, head) returns the reader of a head by value.
template <class NumbersOf>
void attend_with(const AttentionPlan& plan, NumbersOf numbers_of) {
  for (size_t index = 0; index < plan.heads(); ++index) {
    const AttentionPlan::Head head = plan.head(index);
    const auto numbers = numbers_of(index, head);
    for (size_t row = 0; row < plan.queries(); ++row) {
      for (size_t first = 0; first < plan.width(); first += kAttentionColumns) {
        const size_t left = plan.width() - first;
        AttentionRow(plan, head, numbers, row)
            .compute(first, left < kAttentionColumns ? left : kAttentionColumns);
      }
    }
  }
}

// Computes attention for tensors of dtype T, in any layout, without scratch memory. Cost: queries * keys *
// (depth * column blocks + width) multiplications for each head.
template <class T>
void attend_by_rows(const AttentionPlan& plan) {
  attend_with(plan,
              [&](size_t, const AttentionPlan::Head& head) { return PlainHead<T>(head, plan.depth()); });
}

}  // namespace rushlight::kernels
