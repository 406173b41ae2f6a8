// SPDX-License-Identifier: BSD-3-Clause
// Activations and normalizations that exporters write as several elementwise operators.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A clamp with known bounds, whatever its operator.
struct Clamp {
  ValueId of;
  double low, high;
};

std::optional<Clamp> clamp_of(const Graph& graph, size_t call) {
  const std::string_view name = graph.name(call);
  if (name == "aten::relu.out") return Clamp{graph.argument(call, 0), 0, kInfinity};
  if (name != "aten::clamp.out" && name != "aten::hardtanh.out") return std::nullopt;
  const auto bound = [&](size_t index, double absent) -> std::optional<double> {
    const ValueId id = graph.argument(call, index);
    return graph.value(id).kind == CallList::Kind::None ? absent : graph.number(id);
  };
  const std::optional<double> low = bound(1, -kInfinity), high = bound(2, kInfinity);
  if (!low.has_value() || !high.has_value() || std::isnan(*low) || std::isnan(*high)) return std::nullopt;
  return Clamp{graph.argument(call, 0), *low, *high};
}

// One rule at one call. Results and operands have one floating-point dtype and the same sizes, so nothing is
// promoted or broadcast.
class Rules {
 public:
  Rules(Graph* graph, size_t call) : graph_(*graph), call_(call), name_(graph->name(call)) {}

  bool apply() {
    if (name_.empty()) return false;
    if (name_ == "aten::clamp.out" || name_ == "aten::hardtanh.out") return merge_clamps();
    if (name_ == "aten::div.out") return divide_by_six();
    if (name_ == "aten::mul.out") return multiply();
    return false;
  }

 private:
  [[nodiscard]] ValueId result() const { return graph_.result(call_); }

  // Returns true if an operand has the elements that a rule needs: stable, and like the result.
  [[nodiscard]] bool is_like_result(ValueId id) const {
    const CallList::Value &own = graph_.value(result()), &other = graph_.value(id);
    return graph_.is_tensor(id) && own.dtype == other.dtype && is_floating(own.dtype) &&
           own.sizes == other.sizes && own.order == other.order && graph_.is_stable(id);
  }

  bool unary(const char* name, ValueId of) {
    if (!is_like_result(of) || !graph_.has(name, "out")) return false;
    graph_.replace(call_, name, "out", {of, result()});
    return true;
  }

  // The call that writes a tensor, if its operator has this name and its result these sizes.
  [[nodiscard]] int32_t written_by(ValueId id, std::string_view name) const {
    const int32_t call = graph_.writer(id, name);
    return call != Graph::kNone && same(graph_.result(static_cast<size_t>(call)), id) ? call : Graph::kNone;
  }
  // Returns true if both are the same tensor.
  [[nodiscard]] bool same(ValueId a, ValueId b) const {
    return a == b || (graph_.is_tensor(a) && graph_.is_tensor(b) &&
                      graph_.value(a).storage == graph_.value(b).storage &&
                      graph_.sizes(a) == graph_.sizes(b) && graph_.value(a).order == graph_.value(b).order);
  }

  // clamp(clamp(x)), each with one bound.
  bool merge_clamps() {
    const std::optional<Clamp> outer = clamp_of(graph_, call_);
    if (!outer.has_value()) return false;
    const int32_t writer = graph_.is_tensor(outer->of) ? graph_.writer(outer->of) : Graph::kNone;
    if (writer == Graph::kNone || !same(graph_.result(static_cast<size_t>(writer)), outer->of)) return false;
    const std::optional<Clamp> inner = clamp_of(graph_, static_cast<size_t>(writer));
    if (!inner.has_value() || !is_like_result(inner->of)) return false;
    const double low = std::max(inner->low, outer->low), high = std::min(inner->high, outer->high);
    if (low > high) return false;  // the order of the clamps decides
    CallList& list = graph_.list();
    const auto bound = [&](double number) { return std::isinf(number) ? list.none() : list.real(number); };
    graph_.replace(call_, "aten::clamp", "out", {inner->of, bound(low), bound(high), result()});
    return true;
  }

  // The x of clamp(x + 3, 0, 6).
  [[nodiscard]] std::optional<ValueId> shifted_relu6(ValueId id) const {
    const int32_t writer = graph_.is_tensor(id) ? graph_.writer(id) : Graph::kNone;
    if (writer == Graph::kNone) return std::nullopt;
    const std::optional<Clamp> clamp = clamp_of(graph_, static_cast<size_t>(writer));
    if (!clamp.has_value() || clamp->low != 0 || clamp->high != 6) return std::nullopt;
    for (const std::string_view name : {"aten::add.out", "aten::add.Scalar_out"}) {
      const int32_t add = written_by(clamp->of, name);
      if (add == Graph::kNone) continue;
      const auto call = static_cast<size_t>(add);
      if (!graph_.is_number(graph_.argument(call, 2), 1)) continue;
      for (const size_t side : {0, 1}) {
        if (graph_.is_number(graph_.argument(call, 1 - side), 3)) return graph_.argument(call, side);
      }
    }
    return std::nullopt;
  }

  // relu6(x + 3) / 6 and x * relu6(x + 3) / 6.
  bool divide_by_six() {
    if (!graph_.is_number(graph_.argument(call_, 1), 6)) return false;
    const ValueId divided = graph_.argument(call_, 0);
    if (const std::optional<ValueId> x = shifted_relu6(divided)) return unary("aten::hardsigmoid", *x);
    const int32_t product = written_by(divided, "aten::mul.out");
    if (product == Graph::kNone) return false;
    const auto call = static_cast<size_t>(product);
    for (const size_t side : {0, 1}) {
      const std::optional<ValueId> x = shifted_relu6(graph_.argument(call, side));
      if (x.has_value() && same(*x, graph_.argument(call, 1 - side))) return unary("aten::hardswish", *x);
    }
    return false;
  }

  // x * sigmoid(x), x * hardsigmoid(x), and root mean square normalization.
  bool multiply() {
    for (const size_t side : {0, 1}) {
      const ValueId one = graph_.argument(call_, side), other = graph_.argument(call_, 1 - side);
      for (const auto& [inner, fused] : {std::pair("aten::sigmoid.out", "aten::silu"),
                                         std::pair("aten::hardsigmoid.out", "aten::hardswish")}) {
        const int32_t call = written_by(other, inner);
        if (call != Graph::kNone && same(graph_.argument(static_cast<size_t>(call), 0), one))
          return unary(fused, one);
      }
      if (normalize(one, other)) return true;
    }
    return false;
  }

  // (x * rsqrt(mean(x * x) + epsilon)) * weight.
  bool normalize(ValueId one, ValueId other) {
    const int32_t product = written_by(one, "aten::mul.out");
    if (product == Graph::kNone || !graph_.is_tensor(other)) return false;
    const auto call = static_cast<size_t>(product);
    for (const size_t side : {0, 1}) {
      if (replace_norm(graph_.argument(call, side), graph_.argument(call, 1 - side), other)) return true;
    }
    return false;
  }

  bool replace_norm(ValueId x, ValueId factor, ValueId weight) {
    const int32_t root = written_by(factor, "aten::rsqrt.out");
    if (root == Graph::kNone || !is_like_result(x) || !graph_.is_row_major(x)) return false;
    const Sizes& sizes = graph_.sizes(x);
    if (sizes.empty() || graph_.sizes(weight) != Sizes{sizes.back()} ||
        graph_.value(weight).dtype != graph_.value(x).dtype || !graph_.is_stable(weight))
      return false;
    const std::optional<std::pair<ValueId, double>> sum =
        sum_of(graph_.argument(static_cast<size_t>(root), 0));
    if (!sum.has_value()) return false;
    const int32_t mean = written_by(sum->first, "aten::mean.out");
    if (mean == Graph::kNone || !is_mean_of_squares(static_cast<size_t>(mean), x)) return false;
    if (!graph_.has("rushlight::rms_norm", "out")) return false;
    CallList& list = graph_.list();
    graph_.replace(call_, "rushlight::rms_norm", "out",
                   {x, list.integers({sizes.back()}), weight, list.real(sum->second), result()});
    return true;
  }

  // The tensor and the number of a sum.
  [[nodiscard]] std::optional<std::pair<ValueId, double>> sum_of(ValueId id) const {
    for (const std::string_view name : {"aten::add.out", "aten::add.Scalar_out"}) {
      const int32_t add = written_by(id, name);
      if (add == Graph::kNone) continue;
      const auto call = static_cast<size_t>(add);
      const std::optional<double> number = graph_.number(graph_.argument(call, 1));
      if (number.has_value() && graph_.is_number(graph_.argument(call, 2), 1))
        return std::pair(graph_.argument(call, 0), *number);
    }
    return std::nullopt;
  }

  // mean(x * x) or mean(x^2) over the last dimension, which it keeps.
  [[nodiscard]] bool is_mean_of_squares(size_t mean, ValueId x) const {
    const std::vector<int64_t> dims = graph_.integers(graph_.argument(mean, 1));
    const auto rank = static_cast<int64_t>(graph_.sizes(x).size());
    const bool over_last = dims.size() == 1 && (dims[0] == -1 || dims[0] == rank - 1);
    if (!over_last || graph_.value(graph_.argument(mean, 2)).number != 1) return false;
    const ValueId squares = graph_.argument(mean, 0);
    if (const int32_t power = written_by(squares, "aten::pow.Tensor_Scalar_out"); power != Graph::kNone) {
      const auto call = static_cast<size_t>(power);
      return same(graph_.argument(call, 0), x) && graph_.is_number(graph_.argument(call, 1), 2);
    }
    const int32_t product = written_by(squares, "aten::mul.out");
    if (product == Graph::kNone) return false;
    const auto call = static_cast<size_t>(product);
    return same(graph_.argument(call, 0), x) && same(graph_.argument(call, 1), x);
  }

  Graph& graph_;
  size_t call_;
  std::string_view name_;
};

}  // namespace

// In order: later patterns may contain the results of earlier ones.
bool fuse_patterns(Graph* graph) {
  bool changed = false;
  for (size_t call = 0; call < graph->num_calls(); ++call) changed |= Rules(graph, call).apply();
  return changed;
}

}  // namespace rushlight::rewrite
