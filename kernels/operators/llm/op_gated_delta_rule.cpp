// SPDX-License-Identifier: BSD-3-Clause
// The gated delta rule of linear attention (Yang, Kautz and Hatamizadeh, 2024), token by token. With the
// state S [keys, values] of a head, and decay a, key k, value v, step size b and query q of a token:
//
//   S = diag(a) S,  S += b k (v - k^T S)^T,  out = q^T S
//
// The columns of S are independent: blocks of kColumns columns go through all tokens in parallel, each with
// its sums on the stack. A decay is one value for each key channel, or one for all of them. A token costs 3 +
// g products for each element of S, and 2 + g passes over it, with g query heads for each key head.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Columns of a block: a larger one takes more stack and leaves fewer blocks to run in parallel.
constexpr size_t kColumns = 64;

// A tensor [batch, heads, tokens, channels] or [batch, heads, tokens]; strides are in floats.
struct Stack {
  explicit Stack(const Tensor& tensor) : data(tensor.mutable_data_ptr<float>()) {
    for (size_t d = 0; d < static_cast<size_t>(tensor.dim()); ++d) strides[d] = tensor.strides()[d];
  }

  [[nodiscard]] float* at(size_t batch, size_t head, size_t row, size_t channel = 0) const {
    return data + static_cast<ptrdiff_t>(batch) * strides[0] + static_cast<ptrdiff_t>(head) * strides[1] +
           static_cast<ptrdiff_t>(row) * strides[2] + static_cast<ptrdiff_t>(channel) * strides[3];
  }

  float* data;
  ptrdiff_t strides[4] = {};
};

struct Arguments {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const Tensor& decay;
  const Tensor& beta;
  const Tensor& state;
};

// Sizes are compared with key and value, whose own sizes are arbitrary.
Error check_sizes(const Tensor& tensor, const Shape& expected, const char* name) {
  RL_CHECK(has_sizes(tensor, expected.span()), Error::InvalidArgument,
           "%s: expected sizes that fit query, key and value", name);
  return Error::Ok;
}

// Proves all shapes, so that the recurrence tests nothing. Query heads may be a multiple of the key heads.
Error check(const Arguments& given, TypeSet types) {
  const Tensor* all[] = {&given.query, &given.key, &given.value, &given.decay, &given.beta, &given.state};
  for (const Tensor* tensor : all)
    RL_TRY(check_type(*tensor, types, "query, key, value, decay, beta, state"));
  const Tensor& query = given.query;
  const Tensor& key = given.key;
  RL_CHECK(query.dim() == 4 && key.dim() == 4 && given.value.dim() == 4, Error::InvalidArgument,
           "query, key, value: expected 4 dimensions, got %ld, %ld, %ld", static_cast<long>(query.dim()),
           static_cast<long>(key.dim()), static_cast<long>(given.value.dim()));
  const ptrdiff_t heads = query.size(1);
  const ptrdiff_t own = key.size(1);
  RL_CHECK(own > 0 ? heads % own == 0 : heads == 0, Error::InvalidArgument,
           "key: expected a number of heads that divides the query's %ld, got %ld", static_cast<long>(heads),
           static_cast<long>(own));
  Shape of_tokens = Shape::of(key, 1);
  RL_TRY(check_sizes(given.beta, of_tokens, "beta"));
  RL_TRY(check_sizes(given.decay, given.decay.dim() == 3 ? of_tokens : Shape::of(key), "decay"));
  Shape of_query = Shape::of(key);
  of_query.sizes[1] = query.sizes()[1];
  RL_TRY(check_sizes(query, of_query, "query"));
  of_tokens.push(given.value.size(3));
  RL_TRY(check_sizes(given.value, of_tokens, "value"));
  of_tokens.sizes[2] = key.sizes()[3];
  return check_sizes(given.state, of_tokens, "initial_state");
}

// The state is final_state_out, updated in place. Blocks of columns write disjoint parts of it and of `out`.
class Recurrence {
 public:
  Recurrence(const Arguments& given, const Tensor& out, const Tensor& state)
      : query_(given.query),
        key_(given.key),
        value_(given.value),
        decay_(given.decay),
        beta_(given.beta),
        out_(out),
        state_(state),
        tokens_(static_cast<size_t>(given.key.size(2))),
        channels_(static_cast<size_t>(given.key.size(3))),
        group_(static_cast<size_t>(given.query.size(1) / given.key.size(1))) {}

  // Runs columns [first, first + count) of the state of one head through all tokens.
  void run(size_t batch, size_t head, size_t first, size_t count) const {
    for (size_t token = 0; token < tokens_; ++token) {
      update(batch, head, token, first, count);
      for (size_t i = 0; i < group_; ++i) read(batch, head, head * group_ + i, token, first, count);
    }
  }

 private:
  // First pass: decays the state and sums k^T S. Then the correction of each column, and a second pass that
  // adds it.
  void update(size_t batch, size_t head, size_t token, size_t first, size_t count) const {
    float delta[kColumns] = {};
    for (size_t k = 0; k < channels_; ++k) {
      const float decay = *decay_.at(batch, head, token, k);
      const float key = *key_.at(batch, head, token, k);
      float* row = state_.at(batch, head, k, first);
      for (size_t c = 0; c < count; ++c) {
        float& number = row[static_cast<ptrdiff_t>(c) * state_.strides[3]];
        number *= decay;
        delta[c] += number * key;
      }
    }
    const float beta = *beta_.at(batch, head, token);
    for (size_t c = 0; c < count; ++c)
      delta[c] = (*value_.at(batch, head, token, first + c) - delta[c]) * beta;
    for (size_t k = 0; k < channels_; ++k) {
      const float key = *key_.at(batch, head, token, k);
      float* row = state_.at(batch, head, k, first);
      for (size_t c = 0; c < count; ++c) row[static_cast<ptrdiff_t>(c) * state_.strides[3]] += key * delta[c];
    }
  }

  void read(size_t batch, size_t head, size_t query, size_t token, size_t first, size_t count) const {
    float sums[kColumns] = {};
    for (size_t k = 0; k < channels_; ++k) {
      const float factor = *query_.at(batch, query, token, k);
      const float* row = state_.at(batch, head, k, first);
      for (size_t c = 0; c < count; ++c)
        sums[c] += row[static_cast<ptrdiff_t>(c) * state_.strides[3]] * factor;
    }
    for (size_t c = 0; c < count; ++c) *out_.at(batch, query, token, first + c) = sums[c];
  }

  Stack query_;
  Stack key_;
  Stack value_;
  Stack decay_;
  Stack beta_;
  Stack out_;
  Stack state_;
  size_t tokens_;
  size_t channels_;
  size_t group_;
};

}  // namespace

Error gated_delta_rule_out(KernelContext& context, const Tensor& query, const Tensor& key,
                           const Tensor& value, const Tensor& decay, const Tensor& beta,
                           const Tensor& initial_state, Tensor& out, Tensor& final_state_out) {
  constexpr TypeSet kTypes = selected_types("llama::gated_delta_rule.out") |
                             selected_types("llama::channelwise_gated_delta_rule.out");
  const Arguments given{query, key, value, decay, beta, initial_state};
  RL_TRY(check(given, kTypes));
  RL_TRY(check_type(out, kTypes, "out"));
  Shape shape = Shape::of(query, 1);
  shape.push(value.size(3));
  RL_TRY(resize_out(out, shape.span()));
  // The recurrence starts from a copy: initial_state stays unchanged.
  RL_TRY(copy_to_out(View::of(initial_state), final_state_out));
  if (final_state_out.numel() == 0 && out.numel() == 0) return Error::Ok;
  const Recurrence recurrence(given, out, final_state_out);
  const auto heads = static_cast<size_t>(key.size(1));
  const auto width = static_cast<size_t>(value.size(3));
  const size_t blocks = (width + kColumns - 1) / kColumns;
  const size_t count = static_cast<size_t>(key.size(0)) * heads * blocks;
  context.parallel_for(count, 1, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      const size_t first = i % blocks * kColumns;
      recurrence.run(i / blocks / heads, i / blocks % heads, first, std::min(kColumns, width - first));
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
