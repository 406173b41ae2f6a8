// SPDX-License-Identifier: BSD-3-Clause
// softmax(q * s (k * s)^T + mask) v, as the official exporter decomposes it: the scale is a factor of both
// operands, keys are transposed by a copy, rows without any key become zeros, and heads that share keys are
// repeated. The kernel reads its operands in any dim order, so permutations around it copy nothing.
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

namespace {

constexpr std::string_view kPermute = "aten::permute_copy.out";

class Attention {
 public:
  Attention(Graph* graph, size_t call) : graph_(*graph), call_(call) {}

  bool run() {
    const ValueId weights = graph_.argument(call_, 0), values = graph_.argument(call_, 1);
    if (!graph_.has("aten::scaled_dot_product_attention", "out")) return false;
    if (!find_softmax(weights) || !find_scores() || !find_operands()) return false;
    const Sizes& weight_sizes = graph_.sizes(scores_);
    Sizes sizes = weight_sizes;
    sizes.back() = graph_.sizes(values).back();
    sizes[sizes.size() - 2] = graph_.sizes(weights).back();
    const std::optional<ValueId> value = operand(values, sizes);
    Sizes out_sizes = weight_sizes;
    out_sizes.back() = graph_.sizes(values).back();
    const ValueId plain = graph_.result(call_);
    if (!value.has_value() || !graph_.is_row_major(plain)) return false;
    value_ = *value;
    const bool shares_heads = share_heads();
    const std::optional<ValueId> out = result(plain, out_sizes);
    if (!out.has_value()) return false;
    CallList& list = graph_.list();
    graph_.replace(
        call_, "aten::scaled_dot_product_attention", "out",
        {query_, key_, value_, mask_ < 0 || is_causal() ? list.none() : mask_, list.real(0),
         list.boolean(mask_ >= 0 && is_causal()), list.real(scale_), list.boolean(shares_heads), *out});
    return true;
  }

 private:
  [[nodiscard]] int32_t writer(ValueId id, std::string_view name) const { return graph_.writer(id, name); }
  [[nodiscard]] ValueId argument(int32_t call, size_t index) const {
    return graph_.argument(static_cast<size_t>(call), index);
  }

  // The softmax behind the weights, perhaps with zeros for rows that are -inf throughout.
  bool find_softmax(ValueId weights) {
    ValueId softmax_of = weights;
    const int32_t where = writer(weights, "aten::where.self_out");
    if (where != Graph::kNone) {
      const int32_t fill = writer(argument(where, 1), "aten::full_like.out");
      if (fill == Graph::kNone || !graph_.is_number(argument(fill, 1), 0)) return false;
      softmax_of = argument(where, 2);
    }
    const int32_t softmax = writer(softmax_of, "aten::_softmax.out");
    if (softmax == Graph::kNone) return false;
    scores_ = argument(softmax, 0);
    const auto rank = static_cast<int64_t>(graph_.sizes(scores_).size());
    const std::optional<int64_t> dim = graph_.integer(argument(softmax, 1));
    const bool over_last = dim.has_value() && (*dim == -1 || *dim == rank - 1);
    if (!over_last || rank < 3 || graph_.value(argument(softmax, 2)).number != 0) return false;
    if (!is_floating(graph_.value(scores_).dtype) || !graph_.is_row_major(scores_)) return false;
    if (where == Graph::kNone) return true;
    return graph_.sizes(softmax_of) == graph_.sizes(scores_) && is_empty_row(argument(where, 0));
  }

  // logical_not(any(logical_not(scores == -inf), -1, keepdim)).
  [[nodiscard]] bool is_empty_row(ValueId condition) const {
    const int32_t outer = writer(condition, "aten::logical_not.out");
    const int32_t any = outer == Graph::kNone ? Graph::kNone : writer(argument(outer, 0), "aten::any.out");
    if (any == Graph::kNone) return false;
    const std::optional<int64_t> dim = graph_.integer(argument(any, 1));
    const auto rank = static_cast<int64_t>(graph_.sizes(scores_).size());
    if (!dim.has_value() || (*dim != -1 && *dim != rank - 1)) return false;
    const int32_t inner = writer(argument(any, 0), "aten::logical_not.out");
    const int32_t equal =
        inner == Graph::kNone ? Graph::kNone : writer(argument(inner, 0), "aten::eq.Scalar_out");
    return equal != Graph::kNone && graph_.same_elements(argument(equal, 0), scores_) &&
           graph_.is_number(argument(equal, 1), -std::numeric_limits<double>::infinity());
  }

  // The product behind the scores: scores + mask, times a number.
  bool find_scores() {
    ValueId product = scores_;
    if (const int32_t add = writer(product, "aten::add.out"); add != Graph::kNone) {
      if (!graph_.is_number(argument(add, 2), 1)) return false;
      // The mask may be broadcast; the scores are as large as the sum.
      for (const size_t side : {0, 1}) {
        const ValueId scores = argument(add, side), mask = argument(add, 1 - side);
        const bool fits = graph_.is_tensor(mask) && graph_.sizes(scores) == graph_.sizes(scores_) &&
                          graph_.value(mask).dtype == graph_.value(scores_).dtype &&
                          graph_.sizes(mask).size() >= 2 && graph_.is_stable(mask);
        if (!fits || find_product(scores) == Graph::kNone) continue;
        mask_ = mask;
        product_ = find_product(scores);
        return true;
      }
      return false;
    }
    product_ = find_product(product);
    return product_ != Graph::kNone;
  }

  // The batch product that writes a tensor, and its scale afterwards.
  int32_t find_product(ValueId id) {
    scale_ = 1;
    return writer(unscaled(id), "aten::bmm.out");
  }

  // Follows factors, which scale_ collects.
  ValueId unscaled(ValueId id) {
    for (const std::string_view name : {"aten::mul.Scalar_out", "aten::mul.out", "aten::div.out"}) {
      const int32_t call = writer(id, name);
      if (call == Graph::kNone) continue;
      const std::optional<double> factor = graph_.number(argument(call, 1));
      const ValueId from = argument(call, 0);
      if (!factor.has_value() || graph_.value(from).dtype != graph_.value(id).dtype ||
          numel(graph_.sizes(from)) != numel(graph_.sizes(id)) || !graph_.is_stable(from))
        return id;
      scale_ *= name == "aten::div.out" ? 1 / *factor : *factor;
      return from;
    }
    return id;
  }

  // Query and key from the operands of the product of the scores.
  bool find_operands() {
    const ValueId left = argument(product_, 0), right = argument(product_, 1);
    const Sizes& scores = graph_.sizes(scores_);
    const int32_t depth = graph_.sizes(left).back();
    Sizes query_sizes = scores, key_sizes = scores;
    query_sizes.back() = depth;
    key_sizes[scores.size() - 2] = scores.back();
    key_sizes.back() = depth;
    const std::optional<ValueId> query = operand(unscaled(left), query_sizes);
    const std::optional<ValueId> key = transposed(unscaled(right), key_sizes);
    if (!query.has_value() || !key.has_value()) return false;
    query_ = *query;
    key_ = *key;
    return true;
  }

  // A tensor in the sizes that the kernel reads, in the dim order of what was permuted to it.
  std::optional<ValueId> operand(ValueId id, const Sizes& sizes) {
    if (!graph_.is_stable(id) || numel(graph_.sizes(id)) != numel(sizes)) return std::nullopt;
    const int32_t permute = writer(id, kPermute);
    if (permute != Graph::kNone && graph_.sizes(graph_.result(static_cast<size_t>(permute))) == sizes) {
      if (const auto source = as_permuted(permute, sizes)) return source;
    }
    return graph_.reshaped(id, sizes);
  }

  // The source of a permutation as a tensor in another dim order.
  std::optional<ValueId> as_permuted(int32_t permute, const Sizes& sizes) {
    const ValueId source = argument(permute, 0);
    if (!graph_.is_stable(source) || !graph_.is_row_major(source)) return std::nullopt;
    std::vector<uint8_t> order(sizes.size());
    const std::vector<int64_t> dims = graph_.integers(argument(permute, 1));
    if (dims.size() != sizes.size()) return std::nullopt;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t dim = dims[i] < 0 ? dims[i] + static_cast<int64_t>(dims.size()) : dims[i];
      if (dim < 0 || dim >= static_cast<int64_t>(dims.size())) return std::nullopt;
      order[static_cast<size_t>(dim)] = static_cast<uint8_t>(i);
    }
    return graph_.relaid(source, sizes, order);
  }

  // The keys [..., positions, depth] whose transpose `id` is.
  std::optional<ValueId> transposed(ValueId id, const Sizes& sizes) {
    const int32_t permute = writer(id, kPermute);
    if (permute == Graph::kNone) {
      // The transpose of a row or a column moves nothing.
      const bool is_line = sizes.back() == 1 || sizes[sizes.size() - 2] == 1;
      return is_line ? operand(id, sizes) : std::nullopt;
    }
    const ValueId source = argument(permute, 0);
    std::vector<int64_t> dims = graph_.integers(argument(permute, 1));
    const size_t rank = dims.size();
    if (rank < 2 || rank != graph_.sizes(source).size()) return std::nullopt;
    for (int64_t& dim : dims) dim = dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
    std::swap(dims[rank - 2], dims[rank - 1]);
    bool swaps = true;
    for (size_t i = 0; i < rank; ++i) swaps = swaps && dims[i] == static_cast<int64_t>(i);
    if (swaps) return operand(source, sizes);
    // One permutation that transposes keys and moves heads.
    Sizes moved;
    for (const int64_t dim : dims) {
      if (dim < 0 || dim >= static_cast<int64_t>(rank)) return std::nullopt;
      moved.push_back(graph_.sizes(source)[static_cast<size_t>(dim)]);
    }
    if (moved != sizes || !graph_.is_stable(source) || !graph_.is_row_major(source)) return std::nullopt;
    std::vector<uint8_t> order(rank);
    for (size_t i = 0; i < rank; ++i) order[static_cast<size_t>(dims[i])] = static_cast<uint8_t>(i);
    return graph_.relaid(source, sizes, order);
  }

  // Returns true if the mask is a constant square of zeros, with -inf above the diagonal: the kernel then
  // skips the keys behind each query.
  [[nodiscard]] bool is_causal() const {
    const Sizes &sizes = graph_.sizes(mask_), &scores = graph_.sizes(scores_);
    const auto rows = static_cast<size_t>(scores.back());
    const bool is_square = scores[scores.size() - 2] == scores.back() && sizes.back() == scores.back() &&
                           sizes[sizes.size() - 2] == scores.back() &&
                           numel(sizes) == int64_t{scores.back()} * scores.back();
    if (!is_square || !graph_.is_constant(mask_) || graph_.value(mask_).dtype != ScalarType::Float ||
        !graph_.is_row_major(mask_))
      return false;
    const uint8_t* bytes = graph_.list().constant_of(mask_).bytes.data();
    for (size_t i = 0; i < rows * rows; ++i) {
      float number = 0;
      std::memcpy(&number, bytes + i * sizeof number, sizeof number);
      const bool is_hidden = i % rows > i / rows;
      if (is_hidden ? number != -std::numeric_limits<float>::infinity() : number != 0) return false;
    }
    return true;
  }

  // Replaces keys and values that repeat heads by those heads. Returns true if it did.
  bool share_heads() {
    const std::optional<ValueId> key = repeated(key_), value = repeated(value_);
    if (!key.has_value() || !value.has_value() || graph_.sizes(*key)[1] != graph_.sizes(*value)[1])
      return false;
    key_ = *key;
    value_ = *value;
    return true;
  }

  // The tensor [batch, groups, rows, columns] that a tensor [batch, heads, rows, columns] repeats.
  std::optional<ValueId> repeated(ValueId id) {
    const int32_t expand = writer(id, "aten::expand_copy.out");
    if (expand == Graph::kNone || graph_.sizes(id).size() != 4 || !graph_.is_row_major(id))
      return std::nullopt;
    const ValueId source = argument(expand, 0);
    const Sizes single = graph_.sizes(source),
                several = graph_.sizes(graph_.result(static_cast<size_t>(expand)));
    const Sizes merged = graph_.sizes(id);
    if (single.size() != 5 || several.size() != 5 || single[2] != 1 || !graph_.is_stable(source))
      return std::nullopt;
    const bool repeats_heads = single[0] == several[0] && single[1] == several[1] &&
                               single[3] == several[3] && single[4] == several[4] &&
                               merged[0] == several[0] && merged[1] == several[1] * several[2] &&
                               merged[2] == several[3] && merged[3] == several[4];
    if (!repeats_heads) return std::nullopt;
    return operand(source, {single[0], single[1], single[3], single[4]});
  }

  // The tensor that the kernel writes: in the order of the permutation that alone reads it, if there is one.
  std::optional<ValueId> result(ValueId plain, const Sizes& sizes) {
    if (graph_.has_one_reader(plain)) {
      const size_t reader = graph_.readers(plain).front();
      const bool permutes =
          graph_.name(reader) == kPermute && graph_.sizes(graph_.argument(reader, 0)) == sizes;
      if (permutes) {
        const ValueId permuted = graph_.result(reader);
        std::vector<uint8_t> order;
        bool is_valid = graph_.is_row_major(permuted) && graph_.is_stable(permuted);
        for (const int64_t dim : graph_.integers(graph_.argument(reader, 1))) {
          is_valid = is_valid && dim >= 0;
          order.push_back(static_cast<uint8_t>(dim));
        }
        if (is_valid && order.size() == sizes.size()) {
          if (const auto laid = graph_.relaid(permuted, sizes, order)) {
            graph_.list().remove_call(reader);
            return laid;
          }
        }
      }
    }
    return graph_.reshaped(plain, sizes);
  }

  Graph& graph_;
  size_t call_;
  ValueId scores_ = -1, mask_ = -1, query_ = -1, key_ = -1, value_ = -1;
  int32_t product_ = Graph::kNone;
  double scale_ = 1;
};

}  // namespace

bool find_attention(Graph* graph) {
  bool changed = false;
  for (size_t call = 0; call < graph->num_calls(); ++call) {
    if (graph->name(call) == "aten::bmm.out") changed |= Attention(graph, call).run();
  }
  return changed;
}

}  // namespace rushlight::rewrite
