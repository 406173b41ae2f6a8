// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/attention.h in double, for tests. Scores are stored as float32 between the
// steps, as in the contract; exponentials and sums are double.
#pragma once

#include <cmath>
#include <cstddef>

namespace rushlight::ukernel::reference {

// First all scaled scores and their maximum, then all exponentials: two passes over `scores`, which are
// overwritten. An empty history (*shift = -inf) has the factor 1, and a maximum of -inf subtracts 0, so that
// no inf - inf arises. NaN never becomes the maximum: the comparison is false, and it enters the sum instead.
inline float attention_weights(size_t n, float* scores, float scale, const float* mask, float* shift,
                               float* sum) {
  double largest = *shift;
  for (size_t j = 0; j < n; ++j) {
    scores[j] = scores[j] * scale + (mask == nullptr ? 0.0f : mask[j]);
    if (scores[j] > largest) largest = scores[j];
  }
  const double subtracted = std::isinf(largest) && largest < 0 ? 0.0 : largest;
  const double factor = std::isinf(*shift) && *shift < 0 ? 1.0 : std::exp(*shift - subtracted);
  double total = *sum * factor;
  // Exponents are at most 0, unless a score is NaN or infinite.
  for (size_t j = 0; j < n; ++j) {
    const double weight = std::exp(scores[j] - subtracted);
    scores[j] = static_cast<float>(weight);
    total += weight;
  }
  *shift = static_cast<float>(largest);
  *sum = static_cast<float>(total);
  return static_cast<float>(factor);
}

// scores[j] = the product with key j, rounded once.
inline void attention_scores(size_t n, size_t depth, const float* query, const float* keys, ptrdiff_t stride,
                             float* scores) {
  for (size_t j = 0; j < n; ++j) {
    double sum = 0;
    for (size_t p = 0; p < depth; ++p) {
      sum += static_cast<double>(query[p]) *
             keys[static_cast<ptrdiff_t>(j) * stride + static_cast<ptrdiff_t>(p)];
    }
    scores[j] = static_cast<float>(sum);
  }
}

// One rounding, as in the variants: tests compare by equality.
inline void attention_scale(size_t n, float* row, float factor) {
  for (size_t i = 0; i < n; ++i) row[i] *= factor;
}

}  // namespace rushlight::ukernel::reference
