// SPDX-License-Identifier: BSD-3-Clause
// int8 queries, keys and values with a scale and a zero point for each token and head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/matmul/attention.h"
#include "kernels/matmul/attention_rows.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Scale and zero point of each token of one head.
struct TokenNumbers {
  HeadMatrix scale;
  HeadMatrix zero_point;

  [[nodiscard]] float scale_of(size_t token) const { return *element_at<float>(scale, token, 0); }
  [[nodiscard]] int8_t zero_of(size_t token) const { return *element_at<int8_t>(zero_point, token, 0); }
};

// The tensors of those beside one of int8 numbers: sizes as its own, but for the last, which is 1.
class TokenParameters {
 public:
  // InvalidArgument for sizes that differ or a tensor that is missing, InvalidType.
  Error read(const Tensor& tensor, const std::optional<Tensor>& scales,
             const std::optional<Tensor>& zero_points, const char* name);
  [[nodiscard]] TokenNumbers of(size_t batch, size_t head, bool heads_first) const;

 private:
  const Tensor* scales_ = nullptr;
  const Tensor* zero_points_ = nullptr;
};

// Those of all three, by heads as AttentionPlan counts them.
struct QuantizedTokens {
  TokenParameters query;
  TokenParameters key;
  TokenParameters value;
  size_t heads = 1;  // of the query
  size_t group = 1;  // heads of the query that share one of the key
  bool heads_first = false;

  struct Head {
    TokenNumbers query;
    TokenNumbers key;
    TokenNumbers value;
  };
  [[nodiscard]] Head head(size_t index) const {
    const size_t batch = index / heads;
    const size_t own = index % heads / group;
    return {query.of(batch, index % heads, heads_first), key.of(batch, own, heads_first),
            value.of(batch, own, heads_first)};
  }
};

}  // namespace rushlight::kernels
