// SPDX-License-Identifier: BSD-3-Clause
// Attention over a cache of int8 keys and values with a scale and a zero point for each token and head, the
// format of ExecuTorch's quantized caches. Products of queries and keys are exact integer sums; the softmax
// and the weighted sum of values are float32.
#include <algorithm>

#include "kernels/backs/attention.h"
#include "kernels/backs/backs.h"
#include "kernels/matmul/attention.h"
#include "kernels/matmul/attention_rows.h"
#include "kernels/matmul/quantized_attention.h"
#include "kernels/quantization/affine.h"

namespace rushlight::kernels {

namespace {

// The number of products of two differences of int8 values whose sum fits in int32: a difference is at most
// 255 in magnitude, and 32768 * 255^2 is below 2^31.
constexpr size_t kExactProducts = 32768;

// Gives AttentionRow access to one quantized head.
class QuantizedHead {
 public:
  using Element = float;
  using A = float;

  QuantizedHead(const AttentionPlan::Head& head, size_t depth, const QuantizedTokens::Head& tokens)
      : head_(head), depth_(depth), query_(tokens.query), key_(tokens.key), value_(tokens.value) {}

  // scale * sum of (q - q0) (k - k0). The sum is exact, so its order does not matter.
  [[nodiscard]] float dot(size_t query, size_t key) const {
    const int32_t query_zero = query_.zero_of(query);
    const int32_t key_zero = key_.zero_of(key);
    int64_t sum = 0;
    for (size_t begin = 0; begin < depth_; begin += kExactProducts) {
      const size_t end = depth_ - begin < kExactProducts ? depth_ : begin + kExactProducts;
      int32_t part = 0;
      for (size_t d = begin; d < end; ++d) {
        part += (*element_at<int8_t>(head_.query, query, d) - query_zero) *
                (*element_at<int8_t>(head_.key, key, d) - key_zero);
      }
      sum += part;
    }
    return static_cast<float>(sum) * (query_.scale_of(query) * key_.scale_of(key));
  }

  // Dequantizes a value as it is added: weight and scale become one factor.
  void add_value(size_t key, float weight, size_t first, size_t count, float* sums) const {
    const float factor = weight * value_.scale_of(key);
    const int32_t zero = value_.zero_of(key);
    for (size_t c = 0; c < count; ++c) {
      sums[c] += factor * static_cast<float>(*element_at<int8_t>(head_.value, key, first + c) - zero);
    }
  }

 private:
  AttentionPlan::Head head_;
  size_t depth_;
  TokenScales query_;
  TokenScales key_;
  TokenScales value_;
};

// Zero points and scales have one element for each token and head.
struct Arguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const std::optional<Tensor>& q_zero_points;
  const std::optional<Tensor>& q_scales;
  const std::optional<Tensor>& k_zero_points;
  const std::optional<Tensor>& k_scales;
  const std::optional<Tensor>& v_zero_points;
  const std::optional<Tensor>& v_scales;
  bool heads_first;
};

// Reads scales and zero points; the plan has checked the tensors' shapes before.
Error read_tokens(const Arguments& given, QuantizedTokens* tokens) {
  RL_TRY(tokens->query.read(given.query, given.q_scales, given.q_zero_points, "query"));
  RL_TRY(tokens->key.read(given.key, given.k_scales, given.k_zero_points, "key"));
  RL_TRY(tokens->value.read(given.value, given.v_scales, given.v_zero_points, "value"));
  const ptrdiff_t dim = given.heads_first ? 1 : 2;
  tokens->heads = static_cast<size_t>(given.query.size(dim));
  // Grouped queries: each key head serves `group` query heads.
  tokens->group = tokens->heads / std::max<size_t>(static_cast<size_t>(given.key.size(dim)), 1);
  tokens->heads_first = given.heads_first;
  return Error::Ok;
}

constexpr TypeSet kTypes = selected_types("llama::custom_quantized_sdpa.out");

Error check_types(const Arguments& given, const Tensor& out) {
  constexpr TypeSet kBytes = kTypes & type_set(ScalarType::Char);
  RL_TRY(check_type(given.query, kBytes, "query"));
  RL_TRY(check_type(given.key, kBytes, "key"));
  RL_TRY(check_type(given.value, kBytes, "value"));
  return check_type(out, kTypes & type_set(ScalarType::Float), "out");
}

}  // namespace

Error custom_quantized_sdpa_out(KernelContext& context, const Tensor& query, const Tensor& key,
                                const Tensor& value, int64_t start_pos,
                                const std::optional<Tensor>& attn_mask, double, bool is_causal,
                                std::optional<double> scale, const std::optional<Tensor>& q_zero_points,
                                const std::optional<Tensor>& q_scales,
                                const std::optional<Tensor>& k_zero_points,
                                const std::optional<Tensor>& k_scales,
                                const std::optional<Tensor>& v_zero_points,
                                const std::optional<Tensor>& v_scales, bool is_seq_at_dim_2, Tensor& out) {
  const Arguments given{query,         key,      value,         q_zero_points, q_scales,
                        k_zero_points, k_scales, v_zero_points, v_scales,      is_seq_at_dim_2};
  RL_TRY(check_types(given, out));
  AttentionPlan plan;
  RL_TRY(plan.make_cached({query, key, value, start_pos, attn_mask, is_causal, scale, is_seq_at_dim_2}, out));
  QuantizedTokens tokens;
  RL_TRY(read_tokens(given, &tokens));
  if (out.numel() == 0) return Error::Ok;
  return backs::custom_quantized_sdpa_out(context, AttentionProblem{plan, out, &tokens}, [&] {
    attend_with(plan, [&](size_t index, const AttentionPlan::Head& head) {
      return QuantizedHead(head, plan.depth(), tokens.head(index));
    });
    return Error::Ok;
  });
}

// Prepares for the largest shapes; scales and zero points are not known yet.
Error custom_quantized_sdpa_out_prepare(KernelContext& context, const Tensor& query, const Tensor& key,
                                        const Tensor& value, int64_t, const std::optional<Tensor>&, double,
                                        bool, std::optional<double>, const std::optional<Tensor>&,
                                        const std::optional<Tensor>&, const std::optional<Tensor>&,
                                        const std::optional<Tensor>&, const std::optional<Tensor>&,
                                        const std::optional<Tensor>&, bool is_seq_at_dim_2, Tensor& out) {
  AttentionPlan plan;
  if (plan.make_largest(query, key, value, is_seq_at_dim_2, out) != Error::Ok) return Error::Ok;
  const QuantizedTokens tokens;
  return backs::custom_quantized_sdpa_out_prepare(context, AttentionProblem{plan, out, &tokens});
}

}  // namespace rushlight::kernels
