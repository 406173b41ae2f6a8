// SPDX-License-Identifier: BSD-3-Clause
// Self-attention of a decoder layer over its key/value cache, after all checks. A call normalizes the queries
// and keys of its tokens by root mean square, rotates them (Su et al., "RoFormer", 2021), appends keys and
// values to the cache, and attends over the positions up to each token.
//
//   qkv row of a token    [heads queries][key_heads keys][key_heads values], each of depth elements
//   rotated pairs         (2 i, 2 i + 1) if interleaved, else (i, i + half), for i < half
//   score                 s = scale * (q . k);  softcap * tanh(s / softcap) if there is a softcap
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The operator's arguments, in the order of its schema. The batch is 1: qkv [1, tokens, (heads + 2 key_heads)
// * depth], caches [1, key_heads, context, depth], scales [1, key_heads, context], input_pos int64 [1], cos
// and sin [at least context, half], norms [depth], out [1, tokens, heads * depth]. All are row-major and,
// except the caches and input_pos, float32. key_scales and value_scales exist if and only if the cache is
// int8. A window of 0 is unlimited; otherwise a token sees that many keys, itself included. A softcap of 0 is
// none.
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

// A cache of keys or values: elements [key_heads][context][depth], and for int8 one scale for each row: a row
// is stored as round(x * 127 / max|x|), and its scale is max|x| / 127.
struct CacheTensor {
  char* data = nullptr;
  float* scales = nullptr;  // null unless int8

  // Row `index`, which is key head * context + position. T must be the cache's element type.
  template <class T>
  [[nodiscard]] T* row(size_t index, size_t depth) const {
    return reinterpret_cast<T*>(data) + index * depth;
  }
};

// A planned call. After begin_cached_attention() every access below stays inside its tensor. The queries,
// keys and values of a token are adjacent, as are its results. Pointers are valid for one call.
struct CachedAttention {
  size_t tokens = 0;     // tokens of this call
  size_t position = 0;   // position of the first token
  size_t context = 0;    // positions in the cache
  size_t heads = 0;      // heads of queries
  size_t key_heads = 0;  // divides `heads`
  size_t depth = 0;      // of a head, at least 1
  size_t half = 0;       // rotated pairs of elements, at most depth / 2
  size_t window = 0;     // keys that a query sees, at least 1
  bool interleaved = false;
  float eps = 0;
  float scale = 1;
  float softcap = 0;  // 0: no softcap
  ScalarType cache_type = ScalarType::Float;

  // Set by begin_cached_attention(); null before that.
  const float* qkv = nullptr;
  CacheTensor keys;
  CacheTensor values;
  const float* cos = nullptr;  // [at least context][half]
  const float* sin = nullptr;
  const float* query_norm = nullptr;  // [depth], or null
  const float* key_norm = nullptr;
  float* out = nullptr;  // [tokens][heads][depth]

  // Heads of queries that share a key head: head h uses key head h / group().
  [[nodiscard]] size_t group() const { return heads / key_heads; }
  // The queries, keys and values of a token as they come from the projection: not normalized, not rotated.
  [[nodiscard]] const float* query(size_t token, size_t head) const {
    return qkv + (token * (heads + 2 * key_heads) + head) * depth;
  }
  [[nodiscard]] const float* key(size_t token, size_t head) const { return query(token, heads + head); }
  [[nodiscard]] const float* value(size_t token, size_t head) const {
    return query(token, heads + key_heads + head);
  }
  // The result of a head, `depth` elements.
  [[nodiscard]] float* result(size_t token, size_t head) const {
    return out + (token * heads + head) * depth;
  }
  // The positions [first_key, end_key) that a token sees.
  [[nodiscard]] size_t end_key(size_t token) const { return position + token + 1; }
  [[nodiscard]] size_t first_key(size_t token) const {
    const size_t end = end_key(token);
    return end > window ? end - window : 0;
  }
};

// Checks shapes, dtypes and parameters, and resizes `out`; needs no tensor memory, so a prepare function may
// call it. Leaves position and data pointers unset. InvalidArgument, InvalidType. The cache's dtype is
// checked by the dispatch of the computation.
Error plan_cached_attention(const CachedAttentionArguments& given, CachedAttention* plan);

// For a call, after plan_cached_attention(): reads input_pos (once, since a hostile program may alias it) and
// sets the data pointers. InvalidArgument unless the cache has space for all tokens and the written tensors
// (out, caches, scales) overlap no other.
Error begin_cached_attention(const CachedAttentionArguments& given, CachedAttention* plan);

}  // namespace rushlight::kernels
