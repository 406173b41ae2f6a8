// SPDX-License-Identifier: BSD-3-Clause
// Attention of new positions over a cache of keys and values, for ExecuTorch's language models: custom_sdpa
// reads caches that update_cache has filled, sdpa_with_kv_cache also writes them. As there, dropout_p is
// ignored and all tensors are [batch, positions, heads, depth].
#include "kernels/backs/attention.h"
#include "kernels/backs/backs.h"
#include "kernels/index/cache_rows.h"
#include "kernels/matmul/attention.h"
#include "kernels/matmul/attention_rows.h"

namespace rushlight::kernels {

namespace {

Error check_dtypes(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& out) {
  RL_TRY(check_same_dtype(query, key, "query and key"));
  RL_TRY(check_same_dtype(query, value, "query and value"));
  return check_same_dtype(query, out, "query and out");
}

// The portable method: one query row after the other, softmax(q K^T scale) V, with online softmax and without
// scratch.
template <TypeSet kTypes>
Error attend(const AttentionPlan& plan, const Tensor& out) {
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    attend_by_rows<T>(plan);
    return Error::Ok;
  });
}

}  // namespace

// The new queries have positions from start_pos on. make_cached() proves that the cache holds the positions
// they see.
Error custom_sdpa_out(KernelContext& context, const Tensor& query, const Tensor& key, const Tensor& value,
                      int64_t start_pos, const std::optional<Tensor>& attn_mask, double, bool is_causal,
                      std::optional<double> scale, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("llama::custom_sdpa.out");
  RL_TRY(check_dtypes(query, key, value, out));
  AttentionPlan plan;
  RL_TRY(plan.make_cached({query, key, value, start_pos, attn_mask, is_causal, scale}, out));
  return backs::custom_sdpa_out(context, AttentionProblem{plan, out},
                                [&] { return attend<kTypes>(plan, out); });
}

Error custom_sdpa_out_prepare(KernelContext& context, const Tensor& query, const Tensor& key,
                              const Tensor& value, int64_t, const std::optional<Tensor>&, double, bool,
                              std::optional<double>, Tensor& out) {
  AttentionPlan plan;
  if (plan.make_largest(query, key, value, false, out) != Error::Ok) return Error::Ok;
  return backs::custom_sdpa_out_prepare(context, AttentionProblem{plan, out});
}

// Checks everything before it writes the first row, so an error leaves both caches unchanged. The attention
// then reads the new rows from the cache.
Error sdpa_with_kv_cache_out(KernelContext& context, const Tensor& query, const Tensor& key,
                             const Tensor& value, Tensor& key_cache, Tensor& value_cache, int64_t start_pos,
                             int64_t seq_len, const std::optional<Tensor>& attn_mask, double, bool is_causal,
                             std::optional<double> scale, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("llama::sdpa_with_kv_cache.out");
  RL_TRY(check_dtypes(query, key_cache, value_cache, out));
  AttentionPlan plan;
  RL_TRY(plan.make_cached({query, key_cache, value_cache, start_pos, attn_mask, is_causal, scale}, out));
  RL_CHECK(seq_len == query.size(1), Error::InvalidArgument, "seq_len: expected the query's %ld, got %ld",
           static_cast<long>(query.size(1)), static_cast<long>(seq_len));
  CacheRows keys;
  CacheRows values;
  RL_TRY(keys.plan(key, key_cache, start_pos));
  RL_TRY(values.plan(value, value_cache, start_pos));
  RL_TRY(keys.write());
  RL_TRY(values.write());
  return backs::sdpa_with_kv_cache_out(context, AttentionProblem{plan, out},
                                       [&] { return attend<kTypes>(plan, out); });
}

Error sdpa_with_kv_cache_out_prepare(KernelContext& context, const Tensor& query, const Tensor&,
                                     const Tensor&, Tensor& key_cache, Tensor& value_cache, int64_t, int64_t,
                                     const std::optional<Tensor>&, double, bool, std::optional<double>,
                                     Tensor& out) {
  AttentionPlan plan;
  if (plan.make_largest(query, key_cache, value_cache, false, out) != Error::Ok) return Error::Ok;
  return backs::sdpa_with_kv_cache_out_prepare(context, AttentionProblem{plan, out});
}

}  // namespace rushlight::kernels
