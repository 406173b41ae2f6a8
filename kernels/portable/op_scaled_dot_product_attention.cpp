// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/attention.h"
#include "kernels/shared/attention_rows.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error scaled_dot_product_attention_out(KernelContext&, const Tensor& query, const Tensor& key,
                                       const Tensor& value, const std::optional<Tensor>& attn_mask,
                                       double dropout_p, bool is_causal, std::optional<double> scale,
                                       bool enable_gqa, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::scaled_dot_product_attention.out");
  AttentionPlan plan;
  RL_TRY(plan.make({query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa}, out));
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    attend_by_rows<T>(plan);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
