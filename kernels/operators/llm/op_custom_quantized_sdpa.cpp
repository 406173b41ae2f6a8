// SPDX-License-Identifier: BSD-3-Clause
// Attention to a cache of int8 keys and values with a scale and a zero point for each token and head, as
// ExecuTorch's quantized caches have it. Products of queries and keys are exact sums of integers; the softmax
// and the sum of values are float32.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/matmul/attention.h"
#include "kernels/matmul/attention_rows.h"
#include "kernels/quantization/affine.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// So many products of two differences of int8 numbers fit an int32.
constexpr size_t kExactProducts = 32768;

// Scale and zero point of each token of one head.
struct TokenNumbers {
  HeadMatrix scale;
  HeadMatrix zero_point;

  [[nodiscard]] float scale_of(size_t token) const { return *element_at<float>(scale, token, 0); }
  [[nodiscard]] int32_t zero_of(size_t token) const { return *element_at<int8_t>(zero_point, token, 0); }
};

// Tensors [..., 1] beside one [..., depth] that was quantized by token.
class TokenParameters {
 public:
  Error read(const Tensor& tensor, const std::optional<Tensor>& scales,
             const std::optional<Tensor>& zero_points, const char* name) {
    RL_CHECK(scales.has_value() && zero_points.has_value(), Error::InvalidArgument,
             "%s: expected scales and zero points", name);
    RL_TRY(check_type(*scales, type_set(ScalarType::Float), "scales"));
    RL_TRY(check_type(*zero_points, type_set(ScalarType::Char), "zero points"));
    Shape shape = Shape::of(tensor, 1);
    shape.push(1);
    RL_CHECK(has_sizes(*scales, shape.span()) && has_sizes(*zero_points, shape.span()),
             Error::InvalidArgument, "%s: scales, zero points: expected its sizes, the last one 1", name);
    scales_ = &*scales;
    zero_points_ = &*zero_points;
    return Error::Ok;
  }

  [[nodiscard]] TokenNumbers of(size_t batch, size_t head, bool heads_first) const {
    return {matrix(*scales_, batch, head, heads_first), matrix(*zero_points_, batch, head, heads_first)};
  }

 private:
  static HeadMatrix matrix(const Tensor& tensor, size_t batch, size_t head, bool heads_first) {
    return {tensor.mutable_data_ptr<char>() + byte_stride(tensor, 0) * static_cast<ptrdiff_t>(batch) +
                byte_stride(tensor, heads_first ? 1 : 2) * static_cast<ptrdiff_t>(head),
            byte_stride(tensor, heads_first ? 2 : 1), 0};
  }

  const Tensor* scales_ = nullptr;
  const Tensor* zero_points_ = nullptr;
};

// The int8 numbers of one head, for AttentionRow.
class QuantizedHead {
 public:
  using Element = float;
  using A = float;

  QuantizedHead(const AttentionPlan::Head& head, size_t depth, TokenNumbers query, TokenNumbers key,
                TokenNumbers value)
      : head_(head), depth_(depth), query_(query), key_(key), value_(value) {}

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
  TokenNumbers query_;
  TokenNumbers key_;
  TokenNumbers value_;
};

}  // namespace

Error custom_quantized_sdpa_out(KernelContext&, const Tensor& query, const Tensor& key, const Tensor& value,
                                int64_t start_pos, const std::optional<Tensor>& attn_mask, double,
                                bool is_causal, std::optional<double> scale,
                                const std::optional<Tensor>& q_zero_points,
                                const std::optional<Tensor>& q_scales,
                                const std::optional<Tensor>& k_zero_points,
                                const std::optional<Tensor>& k_scales,
                                const std::optional<Tensor>& v_zero_points,
                                const std::optional<Tensor>& v_scales, bool is_seq_at_dim_2, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("llama::custom_quantized_sdpa.out");
  constexpr TypeSet kBytes = kTypes & type_set(ScalarType::Char);
  RL_TRY(check_type(query, kBytes, "query"));
  RL_TRY(check_type(key, kBytes, "key"));
  RL_TRY(check_type(value, kBytes, "value"));
  RL_TRY(check_type(out, kTypes & type_set(ScalarType::Float), "out"));
  AttentionPlan plan;
  RL_TRY(plan.make_cached({query, key, value, start_pos, attn_mask, is_causal, scale, is_seq_at_dim_2}, out));
  TokenParameters queries;
  TokenParameters keys;
  TokenParameters values;
  RL_TRY(queries.read(query, q_scales, q_zero_points, "query"));
  RL_TRY(keys.read(key, k_scales, k_zero_points, "key"));
  RL_TRY(values.read(value, v_scales, v_zero_points, "value"));
  if (out.numel() == 0) return Error::Ok;
  const auto heads = static_cast<size_t>(query.size(is_seq_at_dim_2 ? 1 : 2));
  const size_t group = heads / static_cast<size_t>(key.size(is_seq_at_dim_2 ? 1 : 2));
  attend_with(plan, [&](size_t index, const AttentionPlan::Head& head) {
    const size_t batch = index / heads;
    const size_t own = index % heads / group;
    return QuantizedHead(head, plan.depth(), queries.of(batch, index % heads, is_seq_at_dim_2),
                         keys.of(batch, own, is_seq_at_dim_2), values.of(batch, own, is_seq_at_dim_2));
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
