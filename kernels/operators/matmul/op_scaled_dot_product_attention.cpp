// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/matmul/attention.h"
#include "kernels/matmul/attention_rows.h"

namespace rushlight::kernels {

// softmax(query key^T * scale + mask) value for [batch..., heads, positions, depth]; the scale is 1 /
// sqrt(depth) by default. The plan proves all shapes. The portable code takes one query at a time, with
// online softmax and no scratch.
Error scaled_dot_product_attention_out(KernelContext& context, const Tensor& query, const Tensor& key,
                                       const Tensor& value, const std::optional<Tensor>& attn_mask,
                                       double dropout_p, bool is_causal, std::optional<double> scale,
                                       bool enable_gqa, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::scaled_dot_product_attention.out");
  AttentionPlan plan;
  RL_TRY(plan.make({query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa}, out));
  return backs::scaled_dot_product_attention_out(context, AttentionProblem{plan, out}, [&] {
    return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
      using T = typename decltype(type)::Element;
      attend_by_rows<T>(plan);
      return Error::Ok;
    });
  });
}

Error scaled_dot_product_attention_out_prepare(KernelContext& context, const Tensor& query, const Tensor& key,
                                               const Tensor& value, const std::optional<Tensor>& attn_mask,
                                               double dropout_p, bool is_causal, std::optional<double> scale,
                                               bool enable_gqa, Tensor& out) {
  AttentionPlan plan;
  if (plan.make({query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa}, out) != Error::Ok) {
    return Error::Ok;  // the call itself reports errors
  }
  return backs::scaled_dot_product_attention_out_prepare(context, AttentionProblem{plan, out});
}

}  // namespace rushlight::kernels
