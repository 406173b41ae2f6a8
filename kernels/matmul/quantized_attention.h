// SPDX-License-Identifier: BSD-3-Clause
// Scales and zero points of int8 queries, keys and values: one of each for every token and head, as real =
// (quantized - zero_point) * scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/matmul/attention.h"
#include "kernels/matmul/attention_rows.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Scale and zero point of each token of one head. Columns have stride 0.
struct TokenScales {
  HeadMatrix scale;
  HeadMatrix zero_point;

  // Precondition: token is below the number of positions. The stored scale may be any float32; nothing checks
  // it.
  [[nodiscard]] float scale_of(size_t token) const { return *element_at<float>(scale, token, 0); }
  [[nodiscard]] int8_t zero_of(size_t token) const { return *element_at<int8_t>(zero_point, token, 0); }
};

// The scales and zero points of an int8 tensor: its sizes, with 1 for the last. Refers to the tensors.
class TokenParameters {
 public:
  // InvalidArgument if sizes differ or a tensor is missing; InvalidType unless scales are float32 and zero
  // points int8. `tensor` is the quantized one, and `name` its name in messages.
  Error read(const Tensor& tensor, const std::optional<Tensor>& scales,
             const std::optional<Tensor>& zero_points, const char* name);
  // The parameters of one head of one batch element; `heads_first` says whether dimension 1 or 2 is the
  // heads. Precondition: read() succeeded.
  [[nodiscard]] TokenScales of(size_t batch, size_t head, bool heads_first) const;

 private:
  const Tensor* scales_ = nullptr;
  const Tensor* zero_points_ = nullptr;
};

// The parameters of query, key and value; heads are numbered as in AttentionPlan: batch * heads + head.
struct QuantizedTokens {
  TokenParameters query;
  TokenParameters key;
  TokenParameters value;
  size_t heads = 1;  // of the query
  size_t group = 1;  // heads of the query that share a head of the key
  bool heads_first = false;

  // The parameters of the three matrices of one head; query heads of a group share one head of key and value.
  struct Head {
    TokenScales query;
    TokenScales key;
    TokenScales value;
  };
  [[nodiscard]] Head head(size_t index) const {
    const size_t batch = index / heads;
    const size_t own = index % heads / group;
    return {query.of(batch, index % heads, heads_first), key.of(batch, own, heads_first),
            value.of(batch, own, heads_first)};
  }
};

}  // namespace rushlight::kernels
