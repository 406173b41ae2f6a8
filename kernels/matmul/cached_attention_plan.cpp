// SPDX-License-Identifier: BSD-3-Clause
// Two steps: plan_cached_attention() compares sizes and dtypes and needs no memory, so that it can run at
// load; begin_cached_attention() reads the position and checks what depends on addresses.
#include "kernels/matmul/cached_attention_plan.h"

#include <initializer_list>
#include <limits>

#include "kernels/checks/checks.h"
#include "kernels/checks/overlap.h"
#include "kernels/checks/sizes.h"
#include "runtime/base/log.h"

namespace rushlight::kernels {

namespace {

// A tensor and its name in messages.
struct Named {
  const Tensor* tensor;
  const char* name;
};

// Dtype, rank, each size, and row-major layout: kernels compute addresses from the sizes alone.
Error check_tensor(const Named& given, ScalarType type, std::initializer_list<size_t> sizes) {
  const Tensor& tensor = *given.tensor;
  RL_CHECK(tensor.scalar_type() == type, Error::InvalidType, "%s: expected %s, got %s", given.name,
           to_string(type), to_string(tensor.scalar_type()));
  RL_CHECK(static_cast<size_t>(tensor.dim()) == sizes.size(), Error::InvalidArgument,
           "%s: expected %lu dimensions, got %ld", given.name, log_number(sizes.size()),
           static_cast<long>(tensor.dim()));
  size_t d = 0;
  for (const size_t size : sizes) {
    RL_CHECK(static_cast<size_t>(tensor.sizes()[d]) == size, Error::InvalidArgument,
             "%s: expected size %lu of dimension %lu, got %ld", given.name, log_number(size), log_number(d),
             static_cast<long>(tensor.sizes()[d]));
    ++d;
  }
  RL_CHECK(is_row_major(tensor.dim_order(), tensor.sizes()), Error::InvalidArgument,
           "%s: expected row-major memory", given.name);
  return Error::Ok;
}

// Reads the sizes that others are compared with; all are at least 0. qkv [1, tokens, (heads + 2 key_heads)
// depth], caches [1, key_heads, context, depth], cos and sin [rows, half] with at least `context` rows. The
// pairs that are rotated may be fewer than depth / 2: the rest of a head stays.
Error read_sizes(const CachedAttentionArguments& given, CachedAttention* plan) {
  RL_CHECK(given.qkv.dim() == 3, Error::InvalidArgument, "qkv: expected 3 dimensions, got %ld",
           static_cast<long>(given.qkv.dim()));
  RL_CHECK(given.key_cache.dim() == 4, Error::InvalidArgument, "key_cache: expected 4 dimensions, got %ld",
           static_cast<long>(given.key_cache.dim()));
  RL_CHECK(given.cos.dim() == 2, Error::InvalidArgument, "cos: expected 2 dimensions, got %ld",
           static_cast<long>(given.cos.dim()));
  // Sizes of a tensor are never negative, so the conversions keep their values.
  plan->tokens = static_cast<size_t>(given.qkv.sizes()[1]);
  plan->context = static_cast<size_t>(given.key_cache.sizes()[2]);
  plan->depth = static_cast<size_t>(given.key_cache.sizes()[3]);
  plan->half = static_cast<size_t>(given.cos.sizes()[1]);
  plan->cache_type = given.key_cache.scalar_type();
  RL_CHECK(plan->depth > 0, Error::InvalidArgument, "key_cache: expected heads of at least 1 value, got 0");
  RL_CHECK(plan->half <= plan->depth / 2, Error::InvalidArgument,
           "cos: expected at most %lu pairs of values, got %lu", log_number(plan->depth / 2),
           log_number(plan->half));
  return Error::Ok;
}

Error read_heads(const CachedAttentionArguments& given, CachedAttention* plan) {
  const int64_t most = std::numeric_limits<SizesType>::max();
  RL_CHECK(given.heads >= 1 && given.heads <= most, Error::InvalidArgument,
           "heads: expected 1 to %ld, got %ld", static_cast<long>(most), static_cast<long>(given.heads));
  RL_CHECK(given.key_heads >= 1 && given.key_heads <= given.heads && given.heads % given.key_heads == 0,
           Error::InvalidArgument, "key_heads: expected a divisor of %ld heads, got %ld",
           static_cast<long>(given.heads), static_cast<long>(given.key_heads));
  plan->heads = static_cast<size_t>(given.heads);
  plan->key_heads = static_cast<size_t>(given.key_heads);
  // Divides the width instead of multiplying heads by depth, which could overflow.
  const auto width = static_cast<uint64_t>(given.qkv.sizes()[2]);
  const uint64_t rows = static_cast<uint64_t>(given.heads) + 2 * static_cast<uint64_t>(given.key_heads);
  RL_CHECK(width % plan->depth == 0 && width / plan->depth == rows, Error::InvalidArgument,
           "qkv: expected %lu heads of %lu values in dimension 2, got %lu values", log_number(rows),
           log_number(plan->depth), log_number(width));
  return Error::Ok;
}

Error read_numbers(const CachedAttentionArguments& given, CachedAttention* plan) {
  RL_CHECK(given.window >= 0, Error::InvalidArgument, "window: expected 0 or more, got %ld",
           static_cast<long>(given.window));
  RL_CHECK(given.softcap >= 0 && given.softcap <= std::numeric_limits<float>::max(), Error::InvalidArgument,
           "softcap: expected a finite number, 0 or more, got %g", given.softcap);
  // 0 means all keys, stored as a window that no cache exceeds.
  plan->window = given.window == 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(given.window);
  plan->interleaved = given.interleaved;
  plan->eps = static_cast<float>(given.eps);
  plan->scale = static_cast<float>(given.scale);
  plan->softcap = static_cast<float>(given.softcap);
  return Error::Ok;
}

Error check_cache(const Named& cache, const Named& scales, const CachedAttention& plan) {
  RL_TRY(check_tensor(cache, plan.cache_type, {1, plan.key_heads, plan.context, plan.depth}));
  // Only int8 rows have scales: one for each head and position.
  const bool has_scales = plan.cache_type == ScalarType::Char;
  RL_CHECK((scales.tensor != nullptr) == has_scales, Error::InvalidArgument,
           "%s: expected %s for a cache of %s", scales.name, has_scales ? "a tensor" : "none",
           to_string(plan.cache_type));
  if (!has_scales) return Error::Ok;
  return check_tensor(scales, ScalarType::Float, {1, plan.key_heads, plan.context});
}

template <class T>
T* data_of(const Named& given) {
  return given.tensor == nullptr ? nullptr : given.tensor->mutable_data_ptr<T>();
}

const Tensor* pointer(const std::optional<Tensor>& tensor) { return tensor ? &*tensor : nullptr; }

// All tensors; the written ones come first.
struct Operands {
  enum { kOut, kKeys, kValues, kKeyScales, kValueScales, kQkv, kPos, kCos, kSin, kQueryNorm, kKeyNorm, kAll };
  static constexpr size_t kWritten = kQkv;

  explicit Operands(const CachedAttentionArguments& given)
      : all{{&given.out, "out"},
            {&given.key_cache, "key_cache"},
            {&given.value_cache, "value_cache"},
            {pointer(given.key_scales), "key_scales"},
            {pointer(given.value_scales), "value_scales"},
            {&given.qkv, "qkv"},
            {&given.input_pos, "input_pos"},
            {&given.cos, "cos"},
            {&given.sin, "sin"},
            {pointer(given.query_norm), "query_norm"},
            {pointer(given.key_norm), "key_norm"}} {}

  [[nodiscard]] Error check(const CachedAttention& plan) const;
  [[nodiscard]] Error check_overlap() const;
  void point(CachedAttention* plan) const;

  Named all[kAll];
};

// Every tensor but `out`, which is checked after it was resized.
Error Operands::check(const CachedAttention& plan) const {
  const size_t width = (plan.heads + 2 * plan.key_heads) * plan.depth;
  RL_TRY(check_tensor(all[kQkv], ScalarType::Float, {1, plan.tokens, width}));
  RL_TRY(check_cache(all[kKeys], all[kKeyScales], plan));
  RL_TRY(check_cache(all[kValues], all[kValueScales], plan));
  RL_TRY(check_tensor(all[kPos], ScalarType::Long, {1}));
  const auto rows = static_cast<size_t>(all[kCos].tensor->sizes()[0]);
  RL_CHECK(rows >= plan.context, Error::InvalidArgument,
           "cos: expected a row for each of %lu positions, got %lu", log_number(plan.context),
           log_number(rows));
  for (const size_t table : {kCos, kSin}) {
    RL_TRY(check_tensor(all[table], ScalarType::Float, {rows, plan.half}));
  }
  for (const size_t norm : {kQueryNorm, kKeyNorm}) {
    if (all[norm].tensor != nullptr) RL_TRY(check_tensor(all[norm], ScalarType::Float, {plan.depth}));
  }
  return Error::Ok;
}

Error Operands::check_overlap() const {
  for (size_t w = 0; w < kWritten; ++w) {
    // Each written tensor with all later ones, so every pair is compared once.
    for (size_t i = w + 1; all[w].tensor != nullptr && i < kAll; ++i) {
      if (all[i].tensor != nullptr) {
        RL_TRY(check_no_overlap(*all[i].tensor, *all[w].tensor, all[i].name));
      }
    }
  }
  return Error::Ok;
}

void Operands::point(CachedAttention* plan) const {
  plan->qkv = data_of<float>(all[kQkv]);
  plan->keys = {data_of<char>(all[kKeys]), data_of<float>(all[kKeyScales])};
  plan->values = {data_of<char>(all[kValues]), data_of<float>(all[kValueScales])};
  plan->cos = data_of<float>(all[kCos]);
  plan->sin = data_of<float>(all[kSin]);
  plan->query_norm = data_of<float>(all[kQueryNorm]);
  plan->key_norm = data_of<float>(all[kKeyNorm]);
  plan->out = data_of<float>(all[kOut]);
}

}  // namespace

// The order matters: sizes first, as the other checks compare with them.
Error plan_cached_attention(const CachedAttentionArguments& given, CachedAttention* plan) {
  const Operands operands(given);
  RL_TRY(read_sizes(given, plan));
  RL_TRY(read_heads(given, plan));
  RL_TRY(read_numbers(given, plan));
  RL_TRY(operands.check(*plan));
  const size_t width = plan->heads * plan->depth;
  const SizesType sizes[] = {1, static_cast<SizesType>(plan->tokens), static_cast<SizesType>(width)};
  RL_TRY(resize_out(given.out, {sizes, 3}));
  return check_tensor(operands.all[Operands::kOut], ScalarType::Float, {1, plan->tokens, width});
}

Error begin_cached_attention(const CachedAttentionArguments& given, CachedAttention* plan) {
  const Operands operands(given);
  RL_TRY(operands.check_overlap());
  // Read once: a program may change the tensor while a call runs.
  const int64_t position = *given.input_pos.const_data_ptr<int64_t>();
  // The first comparison keeps the difference in the last one from wrapping.
  const bool fits = plan->tokens <= plan->context && position >= 0 &&
                    static_cast<uint64_t>(position) <= plan->context - plan->tokens;
  RL_CHECK(fits, Error::InvalidArgument,
           "input_pos: expected %lu tokens to fit in a cache of %lu, got position %ld",
           log_number(plan->tokens), log_number(plan->context), static_cast<long>(position));
  plan->position = static_cast<size_t>(position);
  operands.point(plan);
  return Error::Ok;
}

}  // namespace rushlight::kernels
