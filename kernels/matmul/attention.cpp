// SPDX-License-Identifier: BSD-3-Clause
// Plans of attention: no tensor is copied or expanded. Broadcast dimensions have stride 0, grouped heads
// divide the index of the head, and head() computes the addresses of one product from its number.
#include "kernels/matmul/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/walk/paired_axes.h"

namespace rushlight::kernels {

namespace {

Error check_matrix(const Tensor& tensor, bool has_heads, const char* name) {
  const ptrdiff_t least = has_heads ? 3 : 2;
  RL_CHECK(tensor.dim() >= least, Error::InvalidArgument, "%s: expected at least %ld dimensions, got %ld",
           name, static_cast<long>(least), static_cast<long>(tensor.dim()));
  return Error::Ok;
}

// Size of a dimension counted from the end; the last one is 1.
ptrdiff_t size_before_end(const Tensor& tensor, ptrdiff_t from_end) {
  return tensor.size(tensor.dim() - from_end);
}

Error check_sizes(const char* what, ptrdiff_t expected, ptrdiff_t got) {
  RL_CHECK(expected == got, Error::InvalidArgument, "%s: expected %ld, got %ld", what,
           static_cast<long>(expected), static_cast<long>(got));
  return Error::Ok;
}

Error check_types(const AttentionArguments& given, const Tensor& out) {
  RL_TRY(check_same_dtype(given.query, given.key, "query and key"));
  RL_TRY(check_same_dtype(given.query, given.value, "query and value"));
  RL_TRY(check_same_dtype(given.query, out, "query and out"));
  if (!given.mask.has_value()) return Error::Ok;
  const ScalarType type = given.mask->scalar_type();
  RL_CHECK(type == ScalarType::Bool || type == ScalarType::Float || type == given.query.scalar_type(),
           Error::InvalidType, "attn_mask: expected bool, float32 or %s, got %s",
           to_string(given.query.scalar_type()), to_string(type));
  return Error::Ok;
}

// Computes how many heads of the query share one head of `tensor`. Grouped-query attention (Ainslie et al.,
// 2023): consecutive heads of the query share one head of keys and values. Without enable_gqa all operands
// have as many heads, or broadcast.
Error read_group(const AttentionArguments& given, const Tensor& tensor, const char* name, size_t* group) {
  if (!given.enable_gqa) return Error::Ok;
  const ptrdiff_t all = size_before_end(given.query, 3);
  const ptrdiff_t own = size_before_end(tensor, 3);
  RL_CHECK(own > 0 ? all % own == 0 : all == 0, Error::InvalidArgument,
           "%s: expected a number of heads that divides the query's %ld, got %ld", name,
           static_cast<long>(all), static_cast<long>(own));
  *group = own > 0 && all > 0 ? static_cast<size_t>(all / own) : 1;
  return Error::Ok;
}

// The leading dimensions, with each head counted `group` times.
Shape leading(const Tensor& tensor, size_t group) {
  Shape shape = Shape::of(tensor, 2);
  if (shape.dim > 0) shape.sizes[shape.dim - 1] *= static_cast<SizesType>(group);
  return shape;
}

HeadMatrix matrix_of(const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  return {tensor.mutable_data_ptr<char>(), byte_stride(tensor, rank - 2), byte_stride(tensor, rank - 1)};
}

// The dimensions of positions and heads in the layout of a cache. A cache [batch, positions, heads, depth],
// or [batch, heads, positions, depth] with heads_first: only strides differ.
struct CachedLayout {
  explicit CachedLayout(bool heads_first) : positions(heads_first ? 2 : 1), heads(heads_first ? 1 : 2) {}

  [[nodiscard]] HeadMatrix matrix_of(const Tensor& tensor) const {
    return {tensor.mutable_data_ptr<char>(), byte_stride(tensor, positions), byte_stride(tensor, 3)};
  }

  size_t positions;
  size_t heads;
};

}  // namespace

void AttentionPlan::broadcast_leading(const Tensor& tensor, Operand* operand) const {
  operand->matrix = matrix_of(tensor);
  // Dimensions are aligned at the last one, as in any broadcast.
  const Shape own = leading(tensor, operand->group);
  for (size_t i = 0; i < own.dim; ++i) {
    const size_t d = batch_.dim - own.dim + i;
    operand->strides[d] = own.sizes[i] == 1 && batch_.sizes[d] != 1 ? 0 : byte_stride(tensor, i);
  }
}

Error AttentionPlan::make(const AttentionArguments& given, const Tensor& out) {
  // Dropout only applies in training.
  RL_CHECK(given.dropout == 0, Error::NotSupported, "dropout_p: expected 0, as in inference");
  RL_TRY(check_matrix(given.query, given.enable_gqa, "query"));
  RL_TRY(check_matrix(given.key, given.enable_gqa, "key"));
  RL_TRY(check_matrix(given.value, given.enable_gqa, "value"));
  RL_TRY(check_types(given, out));
  RL_TRY(check_sizes("key: last size", size_before_end(given.query, 1), size_before_end(given.key, 1)));
  RL_TRY(check_sizes("value: size before the last", size_before_end(given.key, 2),
                     size_before_end(given.value, 2)));
  RL_TRY(read_group(given, given.key, "key", &key_.group));
  RL_TRY(read_group(given, given.value, "value", &value_.group));
  queries_ = static_cast<size_t>(size_before_end(given.query, 2));
  keys_ = static_cast<size_t>(size_before_end(given.key, 2));
  depth_ = static_cast<size_t>(size_before_end(given.query, 1));
  width_ = static_cast<size_t>(size_before_end(given.value, 1));
  is_causal_ = given.is_causal;
  // Without depth every score is 0, for any scale.
  scale_ = depth_ == 0 ? 0 : given.scale.value_or(1 / std::sqrt(static_cast<double>(depth_)));

  // The mask broadcasts to the scores, which do not have the batch dimensions that only the value has.
  Shape scores;
  RL_TRY(broadcast_shape(leading(given.query, 1).span(), leading(given.key, key_.group).span(), &scores));
  // The value may have batch dimensions that query and key do not have; its width may differ from the depth.
  RL_TRY(broadcast_shape(scores.span(), leading(given.value, value_.group).span(), &batch_));
  RL_CHECK(batch_.dim + 2 <= kTensorDimensionLimit, Error::InvalidArgument, "too many dimensions");
  broadcast_leading(given.query, &query_);
  broadcast_leading(given.key, &key_);
  broadcast_leading(given.value, &value_);
  if (given.mask.has_value()) RL_TRY(broadcast_mask(*given.mask, scores));

  Shape result = batch_;
  result.push(static_cast<ptrdiff_t>(queries_));
  result.push(static_cast<ptrdiff_t>(width_));
  RL_TRY(resize_out(out, result.span()));
  broadcast_leading(out, &out_);
  // The number of matrices, each of [queries, width] results.
  heads_ = 1;
  for (size_t d = 0; d < batch_.dim; ++d) heads_ *= static_cast<size_t>(batch_.sizes[d]);
  return Error::Ok;
}

Error AttentionPlan::make_cached(const CustomSdpaArguments& given, const Tensor& out) {
  RL_TRY(read_sizes(given));
  RL_TRY(read_cached_mask(given));
  RL_TRY(resize_out(out, given.query.sizes()));
  scale_ = depth_ == 0 ? 0 : given.scale.value_or(1 / std::sqrt(static_cast<double>(depth_)));
  const CachedLayout layout(given.heads_first);
  const auto set = [&](const Tensor& tensor, Operand* operand) {
    operand->matrix = layout.matrix_of(tensor);
    operand->strides[0] = byte_stride(tensor, 0);
    operand->strides[1] = byte_stride(tensor, layout.heads);
  };
  set(given.query, &query_);
  set(given.key, &key_);
  set(given.value, &value_);
  set(out, &out_);
  return Error::Ok;
}

// For scratch memory, before positions are known. The call reports the errors again.
Error AttentionPlan::make_largest(const Tensor& query, const Tensor& key, const Tensor& value,
                                  bool heads_first, const Tensor& out) {
  if (query.dim() != 4 || key.dim() != 4 || !has_sizes(out, query.sizes())) return Error::InvalidArgument;
  const ptrdiff_t positions = heads_first ? 2 : 1;
  const std::optional<Tensor> no_mask;
  // The queries end at the last position of the cache.
  const int64_t start = std::max<int64_t>(key.size(positions) - query.size(positions), 0);
  return make_cached({query, key, value, start, no_mask, true, std::nullopt, heads_first}, out);
}

Error AttentionPlan::read_sizes(const CustomSdpaArguments& given) {
  const Tensor& query = given.query;
  const Tensor& key = given.key;
  RL_CHECK(query.dim() == 4 && key.dim() == 4 && given.value.dim() == 4, Error::InvalidArgument,
           "query, key, value: expected 4 dimensions, got %ld, %ld, %ld", static_cast<long>(query.dim()),
           static_cast<long>(key.dim()), static_cast<long>(given.value.dim()));
  RL_CHECK(has_sizes(given.value, key.sizes()), Error::InvalidArgument,
           "value: expected the sizes of the key");
  RL_TRY(check_sizes("key: first size", query.size(0), key.size(0)));
  RL_TRY(check_sizes("key: last size", query.size(3), key.size(3)));
  const CachedLayout layout(given.heads_first);
  const auto heads = query.size(static_cast<ptrdiff_t>(layout.heads));
  const auto own = key.size(static_cast<ptrdiff_t>(layout.heads));
  RL_CHECK(own > 0 ? heads % own == 0 : heads == 0, Error::InvalidArgument,
           "key: expected a number of heads that divides the query's %ld, got %ld", static_cast<long>(heads),
           static_cast<long>(own));
  key_.group = value_.group = own > 0 && heads > 0 ? static_cast<size_t>(heads / own) : 1;
  queries_ = static_cast<size_t>(query.size(static_cast<ptrdiff_t>(layout.positions)));
  keys_ = static_cast<size_t>(key.size(static_cast<ptrdiff_t>(layout.positions)));
  depth_ = width_ = static_cast<size_t>(query.size(3));
  batch_ = Shape{};
  batch_.push(query.size(0));
  batch_.push(heads);
  heads_ = static_cast<size_t>(query.size(0)) * static_cast<size_t>(heads);
  return Error::Ok;
}

// Sets the keys that are seen: all of them with a mask of [queries, keys], otherwise up to each query's
// position.
Error AttentionPlan::read_cached_mask(const CustomSdpaArguments& given) {
  if (!given.mask.has_value()) {
    const auto limit = static_cast<int64_t>(keys_) - static_cast<int64_t>(queries_);
    RL_CHECK(given.start >= 0 && given.start <= limit, Error::InvalidArgument,
             "start_pos: expected 0 to %ld (%zu positions in a cache of %zu), got %ld",
             static_cast<long>(limit), queries_, keys_, static_cast<long>(given.start));
    // Positions of the cache behind the last query hold no keys yet.
    first_ = static_cast<size_t>(given.start);
    keys_ = first_ + queries_;
    is_causal_ = given.is_causal;
    return Error::Ok;
  }
  const Tensor& mask = *given.mask;
  RL_CHECK(!given.is_causal, Error::InvalidArgument, "attn_mask: expected none where is_causal is true");
  RL_CHECK(mask.scalar_type() == ScalarType::Float, Error::InvalidType, "attn_mask: expected float32, got %s",
           to_string(mask.scalar_type()));
  const SizesType expected[] = {static_cast<SizesType>(queries_), static_cast<SizesType>(keys_)};
  RL_CHECK(has_sizes(mask, {expected, 2}), Error::InvalidArgument,
           "attn_mask: expected %zu queries by %zu keys", queries_, keys_);
  has_mask_ = true;
  mask_type_ = ScalarType::Float;
  mask_.matrix = matrix_of(mask);
  return Error::Ok;
}

Error AttentionPlan::broadcast_mask(const Tensor& mask, Shape scores) {
  scores.push(static_cast<ptrdiff_t>(queries_));
  scores.push(static_cast<ptrdiff_t>(keys_));
  const auto rank = static_cast<size_t>(mask.dim());
  // Compares sizes from the last dimension on.
  bool fits = rank <= scores.dim;
  for (size_t i = 0; fits && i < rank; ++i) {
    const SizesType size = mask.sizes()[rank - 1 - i];
    fits = size == 1 || size == scores.sizes[scores.dim - 1 - i];
  }
  RL_CHECK(fits, Error::InvalidArgument,
           "attn_mask: does not broadcast to the scores, %ld queries by %ld keys",
           static_cast<long>(queries_), static_cast<long>(keys_));
  has_mask_ = true;
  mask_type_ = mask.scalar_type();
  mask_.matrix.data = mask.mutable_data_ptr<char>();
  ptrdiff_t own[kTensorDimensionLimit] = {};  // from the last dimension on
  for (size_t i = 0; i < rank; ++i) {
    own[i] = mask.sizes()[rank - 1 - i] == 1 ? 0 : byte_stride(mask, rank - 1 - i);
  }
  // The last two dimensions are the matrix, all others broadcast over the batch.
  mask_.matrix.column = own[0];
  mask_.matrix.row = own[1];
  for (size_t i = 2; i < rank; ++i) mask_.strides[batch_.dim + 1 - i] = own[i];
  return Error::Ok;
}

HeadMatrix AttentionPlan::at(const Operand& operand, const size_t* index) const {
  HeadMatrix matrix = operand.matrix;
  if (matrix.data == nullptr) return matrix;
  for (size_t d = 0; d < batch_.dim; ++d) {
    // The last leading dimension is the heads; `group` of them share a head of this operand.
    const size_t i = d + 1 == batch_.dim ? index[d] / operand.group : index[d];
    matrix.data += operand.strides[d] * static_cast<ptrdiff_t>(i);
  }
  return matrix;
}

AttentionPlan::Head AttentionPlan::head(size_t number) const {
  size_t index[kTensorDimensionLimit] = {};
  for (size_t d = batch_.dim; d-- > 0;) {
    const auto size = static_cast<size_t>(batch_.sizes[d]);
    index[d] = number % size;
    number /= size;
  }
  return {at(query_, index), at(key_, index), at(value_, index), at(mask_, index), at(out_, index)};
}

}  // namespace rushlight::kernels
