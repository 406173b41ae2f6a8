// SPDX-License-Identifier: BSD-3-Clause
// What kernels of scaled_dot_product_attention share: the shapes, checked and broadcast, and where the
// matrices of each head are.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/checks/checks.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A matrix of one head; strides in bytes, 0 where it repeats.
struct HeadMatrix {
  char* data = nullptr;
  ptrdiff_t row = 0;
  ptrdiff_t column = 0;
};

// The arguments of the operator, in its schema's order.
struct AttentionArguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const std::optional<Tensor>& mask;
  double dropout;
  bool is_causal;
  std::optional<double> scale;
  bool enable_gqa;
};

// Attention over caches of keys and values, which have the new positions already. All tensors are
// [batch, positions, heads, depth], or [batch, heads, positions, depth] where `heads_first`. Without a mask
// the queries stand at positions start, start + 1, ... and no later key is seen; with one all of the cache's
// are.
struct CachedAttentionArguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  int64_t start;
  const std::optional<Tensor>& mask;
  bool is_causal;
  std::optional<double> scale;
  bool heads_first = false;
};

// The last two dimensions of the tensors are [queries, depth], [keys, depth], [keys, width], the mask's
// [queries, keys] and the result's [queries, width]; the dimensions before them broadcast to `batch`.
class AttentionPlan {
 public:
  // Checks everything and gives `out` its shape. Errors: InvalidArgument (shapes), InvalidType (dtypes that
  // differ; a mask that is neither bool nor float32 nor as the query), NotSupported (dropout).
  Error make(const AttentionArguments& arguments, const Tensor& out);

  // Checks sizes and gives `out` the query's; dtypes are the caller's. Errors: InvalidArgument (shapes, a
  // position past the end of the cache).
  Error make_cached(const CachedAttentionArguments& arguments, const Tensor& out);
  // The plan of the most keys that a call can see, for prepare functions: positions are not known at load.
  // Errors are as above; they are the call's to report.
  Error make_largest(const Tensor& query, const Tensor& key, const Tensor& value, bool heads_first,
                     const Tensor& out);

  [[nodiscard]] size_t heads() const { return heads_; }  // matrices of queries
  [[nodiscard]] size_t queries() const { return queries_; }
  [[nodiscard]] size_t keys() const { return keys_; }
  [[nodiscard]] size_t depth() const { return depth_; }
  [[nodiscard]] size_t width() const { return width_; }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] bool is_causal() const { return is_causal_; }
  [[nodiscard]] bool has_mask() const { return has_mask_; }
  [[nodiscard]] ScalarType mask_type() const { return mask_type_; }

  // A query sees no key from this one on.
  [[nodiscard]] size_t keys_of(size_t query) const {
    return is_causal_ && first_ + query + 1 < keys_ ? first_ + query + 1 : keys_;
  }

  struct Head {
    HeadMatrix query;
    HeadMatrix key;
    HeadMatrix value;
    HeadMatrix mask;  // no data without one
    HeadMatrix out;
  };
  [[nodiscard]] Head head(size_t index) const;

 private:
  // A tensor whose leading dimensions stretch over the batch; the last of them serves `group` heads each.
  struct Operand {
    HeadMatrix matrix;
    ptrdiff_t strides[kTensorDimensionLimit] = {};
    size_t group = 1;
  };
  void stretch(const Tensor& tensor, Operand* operand) const;
  Error stretch_mask(const Tensor& mask, Shape scores);
  Error read_sizes(const CachedAttentionArguments& given);
  Error read_cached_mask(const CachedAttentionArguments& given);
  [[nodiscard]] HeadMatrix at(const Operand& operand, const size_t* index) const;

  Shape batch_;
  Operand query_;
  Operand key_;
  Operand value_;
  Operand mask_;
  Operand out_;
  size_t heads_ = 0;
  size_t queries_ = 0;
  size_t keys_ = 0;
  size_t depth_ = 0;
  size_t width_ = 0;
  size_t first_ = 0;  // how many keys come before the first query's own
  double scale_ = 1;
  bool is_causal_ = false;
  bool has_mask_ = false;
  ScalarType mask_type_ = ScalarType::Bool;
};

}  // namespace rushlight::kernels
