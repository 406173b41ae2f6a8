// SPDX-License-Identifier: BSD-3-Clause
// Self-attention of a decoder's layer over its cache of keys and values, checked. A call normalizes (by root
// mean square) and rotates (Su et al., "RoFormer") the queries and keys of its tokens, appends keys and
// values to the cache, then attends over the cache's rows up to each token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The operator's arguments, in its order.
struct CachedAttentionArguments {
  const Tensor& qkv;
  const Tensor& key_cache;
  const Tensor& value_cache;
  const std::optional<Tensor>& key_scales;
  const std::optional<Tensor>& value_scales;
  const Tensor& input_pos;
  const Tensor& cos;
  const Tensor& sin;
  const std::optional<Tensor>& query_norm;
  const std::optional<Tensor>& key_norm;
  double eps;
  int64_t heads;
  int64_t key_heads;
  bool interleaved;
  double scale;
  int64_t window;
  double softcap;
  const Tensor& out;
};

// One cache of keys or values: [key_heads][context][depth] elements, and a scale for each row of int8.
struct CacheTensor {
  char* data = nullptr;
  float* scales = nullptr;  // null unless int8

  template <class T>
  [[nodiscard]] T* row(size_t index, size_t depth) const {
    return reinterpret_cast<T*>(data) + index * depth;
  }
};

// Planned and begun: every index below is inside its array. Rows of queries, keys and values of a token are
// adjacent, as are those of the result.
struct CachedAttention {
  size_t tokens = 0;     // of this call
  size_t position = 0;   // of the first of them
  size_t context = 0;    // rows of the cache
  size_t heads = 0;      // of queries
  size_t key_heads = 0;  // divides `heads`
  size_t depth = 0;      // of a head, at least 1
  size_t half = 0;       // pairs of numbers that are rotated, at most depth / 2
  size_t window = 0;     // keys that a query sees, at least 1
  bool interleaved = false;
  float eps = 0;
  float scale = 1;
  float softcap = 0;  // 0: none
  ScalarType cache_type = ScalarType::Float;

  const float* qkv = nullptr;
  CacheTensor keys;
  CacheTensor values;
  const float* cos = nullptr;  // [at least context][half]
  const float* sin = nullptr;
  const float* query_norm = nullptr;  // [depth], or null
  const float* key_norm = nullptr;
  float* out = nullptr;  // [tokens][heads][depth]

  [[nodiscard]] size_t group() const { return heads / key_heads; }
  [[nodiscard]] const float* query(size_t token, size_t head) const {
    return qkv + (token * (heads + 2 * key_heads) + head) * depth;
  }
  [[nodiscard]] const float* key(size_t token, size_t head) const { return query(token, heads + head); }
  [[nodiscard]] const float* value(size_t token, size_t head) const {
    return query(token, heads + key_heads + head);
  }
  [[nodiscard]] float* result(size_t token, size_t head) const {
    return out + (token * heads + head) * depth;
  }
  // The rows of the cache that a token sees.
  [[nodiscard]] size_t end_key(size_t token) const { return position + token + 1; }
  [[nodiscard]] size_t first_key(size_t token) const {
    const size_t end = end_key(token);
    return end > window ? end - window : 0;
  }
};

// Checks shapes, dtypes and numbers, and gives `out` its shape: all that does not ask for memory.
// InvalidArgument, InvalidType.
Error plan_cached_attention(const CachedAttentionArguments& given, CachedAttention* plan);

// For a call: reads input_pos, once, and takes the tensors' memory. InvalidArgument unless the cache has rows
// for all tokens, and what is written overlaps nothing else.
Error begin_cached_attention(const CachedAttentionArguments& given, CachedAttention* plan);

}  // namespace rushlight::kernels
