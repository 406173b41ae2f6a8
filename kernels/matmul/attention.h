// SPDX-License-Identifier: BSD-3-Clause
// Shapes, broadcasting and addresses of scaled_dot_product_attention, shared by portable code and backs:
//
//   out = softmax(query key^T * scale + mask) value        for each head, softmax over the keys
//
// A plan turns tensors of any layout into matrices of single heads, so computations need no shapes.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/checks/checks.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A matrix of one head; strides in bytes, 0 for repeated elements. Does not own the elements.
struct HeadMatrix {
  char* data = nullptr;
  ptrdiff_t row = 0;
  ptrdiff_t column = 0;
};

// The operator's arguments, in the order of its schema. A bool mask keeps the keys that are true; other masks
// are added to the scores. Without a scale it is 1 / sqrt(depth). With enable_gqa (grouped queries) dimension
// -3 of key and value may be a divisor of the query's: consecutive heads of the query share one of theirs.
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

// Attention over caches of keys and values that already hold the new positions. Tensors are [batch,
// positions, heads, depth], or [batch, heads, positions, depth] with `heads_first`; the query has its own
// number of positions, and its heads are a multiple of the cache's. Without a mask the queries have positions
// start, start + 1, ...; if causal they see no later key, otherwise all keys up to the last query's. With a
// mask, float32 [queries, keys], they see the whole cache, and `is_causal` must be false.
struct CustomSdpaArguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  int64_t start;
  const std::optional<Tensor>& mask;
  bool is_causal;
  std::optional<double> scale;
  bool heads_first = false;
};

// A checked problem. The last two dimensions are: query [queries, depth], key [keys, depth], value [keys,
// width], mask [queries, keys], out [queries, width]. The dimensions before them broadcast to the batch.
// Holds addresses of the tensors' data, so it is valid for one call.
class AttentionPlan {
 public:
  // Checks all arguments and resizes `out`. All tensors but the mask have the query's dtype. The mask may not
  // enlarge the batch. Errors: InvalidArgument (shapes), InvalidType (dtypes differ; mask not bool, float32
  // or the query's dtype), NotSupported (dropout).
  Error make(const AttentionArguments& arguments, const Tensor& out);

  // Checks sizes, and resizes `out` to the query's shape; the caller checks dtypes. Errors: InvalidArgument
  // (shapes, position beyond the cache).
  Error make_cached(const CustomSdpaArguments& arguments, const Tensor& out);
  // For prepare functions: the plan with the most keys that a call can see, since positions are not known at
  // load. Errors as above; the call reports them again.
  Error make_largest(const Tensor& query, const Tensor& key, const Tensor& value, bool heads_first,
                     const Tensor& out);

  // Sizes of the checked problem. Each may be 0; a row of the result that sees no key is 0.
  [[nodiscard]] size_t heads() const { return heads_; }  // matrices of queries
  [[nodiscard]] size_t queries() const { return queries_; }
  [[nodiscard]] size_t keys() const { return keys_; }
  [[nodiscard]] size_t depth() const { return depth_; }
  [[nodiscard]] size_t width() const { return width_; }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] bool is_causal() const { return is_causal_; }
  [[nodiscard]] bool has_mask() const { return has_mask_; }
  [[nodiscard]] ScalarType mask_type() const { return mask_type_; }

  // The number of keys that a query sees, from key 0 on: a causal mask as a loop limit. In make() it is
  // aligned to the upper left, as in PyTorch: query i sees keys 0 to i, whatever the number of keys.
  [[nodiscard]] size_t keys_of(size_t query) const {
    return is_causal_ && first_ + query + 1 < keys_ ? first_ + query + 1 : keys_;
  }

  // The five matrices of one head.
  struct Head {
    HeadMatrix query;
    HeadMatrix key;
    HeadMatrix value;
    HeadMatrix mask;  // data is null without a mask
    HeadMatrix out;
  };
  // Head `index` in row-major order of the batch dimensions; index < heads(). Cost: one division for each of
  // them.
  [[nodiscard]] Head head(size_t index) const;

 private:
  // A tensor whose leading dimensions broadcast over the batch; an index of the last of them serves `group`
  // heads. Strides are in bytes, 0 where the tensor is broadcast.
  struct Operand {
    HeadMatrix matrix;
    ptrdiff_t strides[kTensorDimensionLimit] = {};
    size_t group = 1;
  };
  // broadcast_leading(): strides of the leading dimensions in the batch. broadcast_mask(): checks the mask
  // against the scores' shape and sets its strides. The two below read the sizes of a cache, and the keys
  // that its queries see.
  void broadcast_leading(const Tensor& tensor, Operand* operand) const;
  Error broadcast_mask(const Tensor& mask, Shape scores);
  Error read_sizes(const CustomSdpaArguments& given);
  Error read_cached_mask(const CustomSdpaArguments& given);
  // The operand's matrix at a batch index.
  [[nodiscard]] HeadMatrix at(const Operand& operand, const size_t* index) const;

  // The leading dimensions of the result, and the operands in it.
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
  size_t first_ = 0;  // number of keys before the first query's own
  double scale_ = 1;
  bool is_causal_ = false;
  bool has_mask_ = false;
  ScalarType mask_type_ = ScalarType::Bool;
};

}  // namespace rushlight::kernels
