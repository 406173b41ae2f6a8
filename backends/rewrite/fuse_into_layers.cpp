// SPDX-License-Identifier: BSD-3-Clause
// activation(layer(x) + residual) is one call: the kernel adds and activates while its sums are in registers.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An activation as the fused operators take it.
struct Activation {
  std::string name;
  double low = 0, high = 0;
};

// Activations that are operators of one tensor, and their names in the fused operators.
constexpr std::pair<std::string_view, const char*> kNamed[] = {
    {"aten::hardsigmoid.out", "hardsigmoid"},
    {"aten::hardswish.out", "hardswish"},
    {"aten::sigmoid.out", "sigmoid"},
    {"aten::silu.out", "silu"},
    {"aten::tanh.out", "tanh"},
};

std::optional<Activation> activation_of(const Graph& graph, size_t call) {
  const std::string_view name = graph.name(call);
  if (name == "aten::relu.out") return Activation{"clamp", 0, kInfinity};
  if (name == "aten::clamp.out" || name == "aten::hardtanh.out") {
    const auto bound = [&](size_t index, double absent) -> std::optional<double> {
      const ValueId id = graph.argument(call, index);
      return graph.value(id).kind == CallList::Kind::None ? absent : graph.number(id);
    };
    const std::optional<double> low = bound(1, -kInfinity), high = bound(2, kInfinity);
    if (!low.has_value() || !high.has_value() || !(*low <= *high)) return std::nullopt;
    return Activation{"clamp", *low, *high};
  }
  if (name == "aten::leaky_relu.out") {
    const std::optional<double> slope = graph.number(graph.argument(call, 1));
    if (!slope.has_value()) return std::nullopt;
    return Activation{"leaky_relu", *slope, 0};
  }
  if (name == "aten::gelu.out")
    return Activation{graph.value(graph.argument(call, 1)).text == "tanh" ? "gelu_tanh" : "gelu"};
  for (const auto& [operator_name, fused] : kNamed) {
    if (name == operator_name) return Activation{fused};
  }
  return std::nullopt;
}

// A layer and what has been fused into it. It has the plain layer's arguments first.
struct Layer {
  size_t call;
  bool is_linear;
  ValueId residual = -1;
  bool is_activated = false;
};

std::optional<Layer> layer_of(const Graph& graph, ValueId id) {
  const int32_t writer = graph.is_tensor(id) ? graph.writer(id) : Graph::kNone;
  if (writer == Graph::kNone || !graph.has_one_reader(id)) return std::nullopt;
  Layer layer{static_cast<size_t>(writer), true};
  const std::string_view name = graph.name(layer.call);
  if (name == "aten::linear.out") return layer;
  if (name == "rushlight::linear_act.clamp_out") {
    layer.residual = graph.argument(layer.call, 3);
    layer.is_activated = !graph.is_number(graph.argument(layer.call, 4), -kInfinity) ||
                         !graph.is_number(graph.argument(layer.call, 5), kInfinity);
    return layer;
  }
  layer.is_linear = false;
  if (name == "aten::convolution.out") return layer;
  if (name != "rushlight::convolution_act.clamp_out") return std::nullopt;
  layer.residual = graph.argument(layer.call, 9);
  layer.is_activated = !graph.is_number(graph.argument(layer.call, 10), -kInfinity) ||
                       !graph.is_number(graph.argument(layer.call, 11), kInfinity);
  return layer;
}

class Fusing {
 public:
  Fusing(Graph* graph, size_t call) : graph_(*graph), call_(call) {}

  bool run() {
    if (graph_.name(call_) == "aten::add.out") return add();
    const std::optional<Activation> activation = activation_of(graph_, call_);
    if (!activation.has_value()) return false;
    const ValueId input = graph_.argument(call_, 0);
    const std::optional<Layer> layer = layer_of(graph_, input);
    if (!layer.has_value() || layer->is_activated) return false;
    return replace(*layer, input, layer->residual, *activation);
  }

 private:
  // The residual is the other operand. If both are layers, the later one takes the earlier one's result.
  bool add() {
    if (!graph_.is_number(graph_.argument(call_, 2), 1)) return false;
    for (const size_t side : {0, 1}) {
      if (add_bias(graph_.argument(call_, side), graph_.argument(call_, 1 - side))) return true;
    }
    std::optional<Layer> layer;
    ValueId from = -1, residual = -1;
    for (const size_t side : {0, 1}) {
      const ValueId one = graph_.argument(call_, side), other = graph_.argument(call_, 1 - side);
      const std::optional<Layer> found = layer_of(graph_, one);
      if (!found.has_value() || found->is_activated || (found->residual >= 0 && !is_none(found->residual)))
        continue;
      if (!graph_.is_tensor(other) || graph_.sizes(one) != graph_.sizes(other) ||
          graph_.value(one).dtype != graph_.value(other).dtype || !graph_.is_stable(other) ||
          graph_.value(one).storage == graph_.value(other).storage)
        continue;
      if (layer.has_value() && found->call < layer->call) continue;
      layer = found;
      from = one;
      residual = other;
    }
    return layer.has_value() && replace(*layer, from, residual, {"clamp", -kInfinity, kInfinity});
  }

  // The sum of a linear layer without a bias and a constant vector.
  bool add_bias(ValueId read, ValueId bias) {
    const std::optional<Layer> layer = layer_of(graph_, read);
    if (!layer.has_value() || graph_.name(layer->call) != "aten::linear.out" ||
        !is_none(graph_.argument(layer->call, 2)))
      return false;
    const ValueId plain = graph_.result(layer->call);
    const bool fits = graph_.is_constant(bias) && !graph_.sizes(read).empty() &&
                      graph_.sizes(bias) == Sizes{graph_.sizes(plain).back()} &&
                      graph_.value(bias).dtype == graph_.value(plain).dtype &&
                      graph_.sizes(read).back() == graph_.sizes(plain).back() && graph_.is_row_major(plain);
    ValueId result = graph_.result(call_), none = -1;
    std::vector<ValueId> arguments = graph_.list().arguments(layer->call);
    if (!fits || graph_.sizes(result).size() < 2 || graph_.value(result).dtype != graph_.value(plain).dtype ||
        numel(graph_.sizes(result)) != numel(graph_.sizes(plain)) || !graph_.is_row_major(result))
      return false;
    if (graph_.sizes(result) != graph_.sizes(plain) && !reshape(*layer, &arguments[0], &none, &result))
      return false;
    arguments[2] = bias;
    arguments[3] = result;
    graph_.replace(call_, "aten::linear", "out", std::move(arguments));
    graph_.list().remove_call(layer->call);
    return true;
  }

  [[nodiscard]] bool is_none(ValueId id) const { return graph_.value(id).kind == CallList::Kind::None; }

  // Replaces the call by the layer with a residual and an activation; `read` is the layer's result as the
  // call reads it.
  bool replace(const Layer& layer, ValueId read, ValueId residual, const Activation& activation) {
    const ValueId plain = graph_.result(layer.call);
    ValueId result = graph_.result(call_);
    const CallList::Value own = graph_.value(result);
    if (!is_floating(own.dtype) || own.dtype != graph_.value(plain).dtype ||
        own.sizes != graph_.sizes(read) || !graph_.is_row_major(result) || !graph_.is_row_major(plain))
      return false;
    std::vector<ValueId> arguments = graph_.list().arguments(layer.call);
    for (const ValueId id : graph_.reads(layer.call)) {
      if (!graph_.is_stable(id)) return false;
    }
    if (own.sizes != graph_.sizes(plain) && !reshape(layer, &arguments[0], &residual, &result)) return false;
    const bool is_clamp = activation.name == "clamp";
    const char* name = layer.is_linear ? "rushlight::linear_act" : "rushlight::convolution_act";
    if (!graph_.has(name, is_clamp ? "clamp_out" : "out")) return false;
    CallList& list = graph_.list();
    arguments.resize(layer.is_linear ? 3 : 9);
    arguments.push_back(residual < 0 ? list.none() : residual);
    if (!is_clamp) arguments.push_back(list.text(activation.name.c_str()));
    arguments.push_back(list.real(activation.low));
    arguments.push_back(list.real(activation.high));
    arguments.push_back(result);
    graph_.replace(call_, name, is_clamp ? "clamp_out" : "out", std::move(arguments));
    list.remove_call(layer.call);
    return true;
  }

  // The call reads the layer's result in other sizes: gives a linear layer's input the result's leading
  // sizes, or gives the residual and the result the layer's sizes.
  bool reshape(const Layer& layer, ValueId* input, ValueId* residual, ValueId* result) {
    const Sizes plain = graph_.sizes(graph_.result(layer.call)), wanted = graph_.sizes(*result);
    if (layer.is_linear && !wanted.empty() && wanted.back() == plain.back()) {
      Sizes sizes = wanted;
      sizes.back() = graph_.sizes(*input).back();
      if (const auto reshaped = graph_.reshaped(*input, sizes)) {
        *input = *reshaped;
        return true;
      }
    }
    const bool has_residual = *residual >= 0 && !is_none(*residual);
    const auto other = has_residual ? graph_.reshaped(*residual, plain) : std::optional(*residual);
    const auto out = graph_.reshaped(*result, plain);
    if (!other.has_value() || !out.has_value()) return false;
    *residual = *other;
    *result = *out;
    return true;
  }

  Graph& graph_;
  size_t call_;
};

}  // namespace

bool fuse_into_layers(Graph* graph) {
  bool changed = false;
  for (size_t call = 0; call < graph->num_calls(); ++call) {
    // An activation after a residual finds the fused layer: it writes what the add wrote.
    changed |= Fusing(graph, call).run();
  }
  return changed;
}

}  // namespace rushlight::rewrite
