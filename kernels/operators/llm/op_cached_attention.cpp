// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/backs/cached_attention.h"
#include "kernels/matmul/cached_attention.h"

namespace rushlight::kernels {

// Attention of new tokens over a key and value cache, fused with the steps before it: splits qkv into heads,
// normalizes and rotates queries and keys, and stores keys and values. kernels/matmul/cached_attention.h has
// the contract.
Error cached_attention_out(KernelContext& context, const Tensor& qkv, Tensor& key_cache, Tensor& value_cache,
                           const std::optional<Tensor>& key_scales, const std::optional<Tensor>& value_scales,
                           const Tensor& input_pos, const Tensor& cos, const Tensor& sin,
                           const std::optional<Tensor>& query_norm, const std::optional<Tensor>& key_norm,
                           double eps, int64_t heads, int64_t key_heads, bool interleaved, double scale,
                           int64_t window, double softcap, Tensor& out) {
  const CachedAttentionArguments given = {
      qkv,      key_cache, value_cache, key_scales, value_scales, input_pos, cos,    sin,     query_norm,
      key_norm, eps,       heads,       key_heads,  interleaved,  scale,     window, softcap, out};
  CachedAttention plan;
  RL_TRY(plan_cached_attention(given, &plan));
  RL_TRY(begin_cached_attention(given, &plan));
  return backs::cached_attention_out(context, CachedAttentionProblem{plan},
                                     [&] { return attend_by_tokens(context, plan); });
}

Error cached_attention_out_prepare(KernelContext& context, const Tensor& qkv, Tensor& key_cache,
                                   Tensor& value_cache, const std::optional<Tensor>& key_scales,
                                   const std::optional<Tensor>& value_scales, const Tensor& input_pos,
                                   const Tensor& cos, const Tensor& sin,
                                   const std::optional<Tensor>& query_norm,
                                   const std::optional<Tensor>& key_norm, double eps, int64_t heads,
                                   int64_t key_heads, bool interleaved, double scale, int64_t window,
                                   double softcap, Tensor& out) {
  CachedAttention plan;
  const Error error = plan_cached_attention(
      {qkv, key_cache, value_cache, key_scales, value_scales, input_pos, cos, sin, query_norm, key_norm, eps,
       heads, key_heads, interleaved, scale, window, softcap, out},
      &plan);
  if (error != Error::Ok) return Error::Ok;  // the call itself reports errors
  return backs::cached_attention_out_prepare(context, CachedAttentionProblem{plan});
}

}  // namespace rushlight::kernels
