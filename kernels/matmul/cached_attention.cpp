// SPDX-License-Identifier: BSD-3-Clause
// Portable attention over a cache: two passes over the tokens of a call (append, then attend). Softmax is
// online, from block to block of keys, so that scratch memory is one row. Reference: Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018.
#include "kernels/matmul/cached_attention.h"

#include <cmath>
#include <limits>

#include "kernels/checks/selection.h"
#include "runtime/base/log.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::cached_attention.out");
constexpr size_t kBlockKeys = 16;  // number of scores on the stack

// int8: scale = max|x| / 127, rounded half to even; a row of zeros has scale 0. If the row has a NaN, so has
// the scale, and every element reads as NaN.
void store_row(const float* x, size_t depth, int8_t* to, float* scale) {
  float largest = 0;
  for (size_t d = 0; d < depth; ++d) {
    const float size = std::fabs(x[d]);
    largest = size > largest || size != size ? size : largest;  // propagates NaN
  }
  *scale = largest / 127.0f;
  const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
  for (size_t d = 0; d < depth; ++d) {
    const float number = std::nearbyint(x[d] * inverse);
    const float bounded = number > 127.0f ? 127.0f : (number < -127.0f ? -127.0f : number);
    to[d] = bounded == bounded ? static_cast<int8_t>(bounded) : int8_t{0};
  }
}
template <class T>
void store_row(const float* x, size_t depth, T* to, float*) {
  for (size_t d = 0; d < depth; ++d) to[d] = static_cast<T>(x[d]);
}

class Tokens {
 public:
  Tokens(const CachedAttention& plan, float* row) : plan_(plan), row_(row) {}

  // Normalizes and rotates a head of the token to row_.
  void rotate(const float* x, const float* norm, size_t token) {
    float factor = 1;
    if (norm != nullptr) {
      float squares = 0;
      for (size_t d = 0; d < plan_.depth; ++d) squares += x[d] * x[d];
      factor = 1.0f / std::sqrt(squares / static_cast<float>(plan_.depth) + plan_.eps);
    }
    for (size_t d = 0; d < plan_.depth; ++d) row_[d] = norm == nullptr ? x[d] : x[d] * factor * norm[d];
    // Rotates pair i by the angle of the token's position: elements (2i, 2i + 1) if interleaved, otherwise
    // (i, i + half). Elements from 2 * half on stay as they are.
    const size_t at = (plan_.position + token) * plan_.half;
    for (size_t i = 0; i < plan_.half; ++i) {
      float& first = row_[plan_.interleaved ? 2 * i : i];
      float& second = row_[plan_.interleaved ? 2 * i + 1 : i + plan_.half];
      const float cos = plan_.cos[at + i];
      const float sin = plan_.sin[at + i];
      const float rotated = first * cos - second * sin;
      second = second * cos + first * sin;
      first = rotated;
    }
  }

  template <class T>
  void append(size_t token) {
    for (size_t head = 0; head < plan_.key_heads; ++head) {
      rotate(plan_.key(token, head), plan_.key_norm, token);
      store<T>(row_, plan_.keys, token, head);
      store<T>(plan_.value(token, head), plan_.values, token, head);
    }
  }

  template <class T>
  void attend(size_t token, size_t head) {
    rotate(plan_.query(token, head), plan_.query_norm, token);
    // `out` accumulates exp(score - shift) * value, `sum` the weights; both are rescaled whenever a block
    // raises the shift, and divided at the end. Twice `depth` multiply-adds for each key.
    const size_t first_row = head / plan_.group() * plan_.context;
    float* const out = plan_.result(token, head);
    for (size_t d = 0; d < plan_.depth; ++d) out[d] = 0;
    float sum = 0;
    float shift = -std::numeric_limits<float>::infinity();
    for (size_t key = plan_.first_key(token); key < plan_.end_key(token); key += kBlockKeys) {
      const size_t left = plan_.end_key(token) - key;
      const size_t n = left < kBlockKeys ? left : kBlockKeys;
      float weights[kBlockKeys];
      const float factor = weigh<T>(first_row + key, n, &shift, weights);
      sum *= factor;
      for (size_t k = 0; k < n; ++k) sum += weights[k];
      add_values<T>(first_row + key, n, factor, weights, out);
    }
    for (size_t d = 0; d < plan_.depth; ++d) out[d] /= sum;
  }

 private:
  template <class T>
  void store(const float* x, const CacheTensor& cache, size_t token, size_t head) {
    const size_t index = head * plan_.context + plan_.position + token;
    float* const scale = cache.scales == nullptr ? nullptr : cache.scales + index;
    store_row(x, plan_.depth, cache.row<T>(index, plan_.depth), scale);
  }

  template <class T>
  [[nodiscard]] float score(size_t index) const {
    const T* key = plan_.keys.row<T>(index, plan_.depth);
    float sum = 0;
    for (size_t d = 0; d < plan_.depth; ++d) sum += row_[d] * static_cast<float>(key[d]);
    if (plan_.keys.scales != nullptr) sum *= plan_.keys.scales[index];
    sum *= plan_.scale;
    return plan_.softcap == 0 ? sum : plan_.softcap * std::tanh(sum / plan_.softcap);
  }

  // Computes the weights of n rows relative to the largest score so far; returns the factor for earlier sums.
  template <class T>
  float weigh(size_t index, size_t n, float* shift, float* weights) const {
    const float lowest = -std::numeric_limits<float>::infinity();
    float largest = *shift;
    for (size_t k = 0; k < n; ++k) {
      weights[k] = score<T>(index + k);
      if (weights[k] > largest) largest = weights[k];
    }
    // If all scores are -inf, the weights are 0 instead of exp(-inf + inf), which is NaN.
    const float subtracted = largest == lowest ? 0.0f : largest;
    for (size_t k = 0; k < n; ++k) weights[k] = std::exp(weights[k] - subtracted);
    const float factor = *shift == lowest ? 1.0f : std::exp(*shift - subtracted);
    *shift = largest;
    return factor;
  }

  template <class T>
  void add_values(size_t index, size_t n, float factor, float* weights, float* out) const {
    // Scaling the weights takes one product for each key instead of one for each element.
    if (plan_.values.scales != nullptr) {
      for (size_t k = 0; k < n; ++k) weights[k] *= plan_.values.scales[index + k];
    }
    const T* values = plan_.values.row<T>(index, plan_.depth);
    for (size_t d = 0; d < plan_.depth; ++d) {
      float sum = out[d] * factor;
      for (size_t k = 0; k < n; ++k) sum += weights[k] * static_cast<float>(values[k * plan_.depth + d]);
      out[d] = sum;
    }
  }

  const CachedAttention& plan_;
  float* row_;
};

}  // namespace

Error attend_by_tokens(KernelContext& context, const CachedAttention& plan) {
  const size_t bytes = cached_attention_bytes(plan);
  auto* row = static_cast<float*>(context.allocate_temp(bytes));
  RL_CHECK(row != nullptr, Error::MemoryAllocationFailed,
           "out of scratch memory: need %lu bytes for a head of a token", log_number(bytes));
  return dispatch<kTypes>(plan.cache_type, [&](auto type) {
    using T = typename decltype(type)::Element;
    Tokens tokens(plan, row);
    // All keys are appended before any query attends.
    for (size_t token = 0; token < plan.tokens; ++token) tokens.append<T>(token);
    for (size_t token = 0; token < plan.tokens; ++token) {
      for (size_t head = 0; head < plan.heads; ++head) tokens.attend<T>(token, head);
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
