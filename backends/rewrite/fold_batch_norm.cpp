// SPDX-License-Identifier: BSD-3-Clause
// With s = gamma / sqrt(var + eps): weight' = weight * s, bias' = (bias - mean) * s + beta. Computed in
// double; the weights keep their dtype.
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/rewrite/passes.h"
#include "runtime/tensor/float16.h"

namespace rushlight::rewrite {

namespace {

// A layer whose output scales with its weights, by the indices of its arguments.
struct Layer {
  size_t call;
  const char* name;
  ValueId weight, bias;
  bool is_transposed = false;  // the weight's output channels are in dimension 1, by groups
  int64_t groups = 1;
};

std::optional<Layer> layer_of(const Graph& graph, ValueId id) {
  const int32_t writer = graph.writer(id);
  if (writer == Graph::kNone || !graph.has_one_reader(id)) return std::nullopt;
  const auto call = static_cast<size_t>(writer);
  if (graph.result(call) != id) return std::nullopt;
  const ValueId weight = graph.name(call).empty() ? -1 : graph.argument(call, 1);
  if (graph.name(call) == "aten::linear.out") {
    // A batch norm's channels are in dimension 1.
    if (graph.sizes(id).size() != 2) return std::nullopt;
    return Layer{call, "aten::linear", weight, graph.argument(call, 2)};
  }
  if (graph.name(call) != "aten::convolution.out") return std::nullopt;
  Layer layer{call, "aten::convolution", weight, graph.argument(call, 2)};
  layer.is_transposed = graph.value(graph.argument(call, 6)).number != 0;
  layer.groups = graph.integer(graph.argument(call, 8)).value_or(0);
  return layer;
}

template <class T>
std::vector<double> read_as(Span<const uint8_t> bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);  // a file need not align it
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}

template <class T>
std::vector<uint8_t> write_as(const std::vector<double>& numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const T number(static_cast<T>(numbers[i]));
    std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return bytes;
}

// The weight times the scale of each output channel. `row` elements have one scale, and rows follow each
// other in the order of `scales`.
template <class T>
std::vector<uint8_t> scaled(Span<const uint8_t> weight, const std::vector<double>& scales, size_t row) {
  std::vector<uint8_t> bytes(weight.size());
  for (size_t at = 0, count = scales.size(); at < count; ++at) {
    const double scale = scales[at];
    for (size_t i = at * row; i < (at + 1) * row; ++i) {
      T number;
      std::memcpy(&number, weight.data() + i * sizeof number, sizeof number);
      number = static_cast<T>(static_cast<double>(number) * scale);
      std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
    }
  }
  return bytes;
}

// Calls f with an object of the C++ type of a floating-point dtype. The 16-bit types convert through float.
template <class F>
auto with_type(ScalarType dtype, F f) {
  switch (dtype) {
    case ScalarType::Double:
      return f(double{});
    case ScalarType::Half:
      return f(Half{});
    case ScalarType::BFloat16:
      return f(BFloat16{});
    default:
      return f(float{});
  }
}

class Folding {
 public:
  Folding(Graph* graph, size_t norm) : graph_(*graph), norm_(norm) {}

  bool run() {
    const ValueId input = graph_.argument(norm_, 0), result = graph_.result(norm_);
    const std::optional<Layer> layer = layer_of(graph_, input);
    if (!layer.has_value() || !fits(*layer, result)) return false;
    const size_t channels = static_cast<size_t>(graph_.sizes(result)[1]);
    const std::optional<double> epsilon = graph_.number(graph_.argument(norm_, 6));
    const auto gamma = numbers(graph_.argument(norm_, 1), 1, channels),
               beta = numbers(graph_.argument(norm_, 2), 0, channels),
               mean = numbers(graph_.argument(norm_, 3), 0, channels),
               variance = numbers(graph_.argument(norm_, 4), 1, channels),
               bias = numbers(layer->bias, 0, channels);
    for (const auto* each : {&gamma, &beta, &mean, &variance, &bias}) {
      if (!each->has_value()) return false;
    }
    if (!epsilon.has_value()) return false;
    std::vector<double> scales(channels), shifts(channels);
    for (size_t i = 0; i < channels; ++i) {
      scales[i] = (*gamma)[i] / std::sqrt((*variance)[i] + *epsilon);
      shifts[i] = ((*bias)[i] - (*mean)[i]) * scales[i] + (*beta)[i];
    }
    replace(*layer, scales, shifts);
    return true;
  }

 private:
  // Returns true if the weight is a constant with the norm's number of output channels.
  [[nodiscard]] bool fits(const Layer& layer, ValueId result) const {
    if (!graph_.is_constant(layer.weight) || !graph_.is_row_major(layer.weight)) return false;
    const ScalarType dtype = graph_.value(layer.weight).dtype;
    const Sizes &weight = graph_.sizes(layer.weight), &sizes = graph_.sizes(result);
    if (!is_floating(dtype) || graph_.value(result).dtype != dtype || sizes.size() < 2 || weight.size() < 2)
      return false;
    if (numel(weight) == 0) return false;
    if (!layer.is_transposed) return weight[0] == sizes[1];
    return layer.groups > 0 && weight[0] % layer.groups == 0 && weight[1] * layer.groups == sizes[1];
  }

  // The elements of a constant vector, or `absent` for each channel; none if it is not constant.
  [[nodiscard]] std::optional<std::vector<double>> numbers(ValueId id, double absent, size_t channels) const {
    if (graph_.value(id).kind == CallList::Kind::None) return std::vector<double>(channels, absent);
    if (!graph_.is_constant(id) || !is_floating(graph_.value(id).dtype)) return std::nullopt;
    if (graph_.sizes(id) != Sizes{static_cast<int32_t>(channels)}) return std::nullopt;
    return with_type(graph_.value(id).dtype, [&](auto type) {
      return std::optional(read_as<decltype(type)>(graph_.list().constant_of(id).bytes));
    });
  }

  void replace(const Layer& layer, const std::vector<double>& scales, const std::vector<double>& shifts) {
    const CallList::Value weight = graph_.value(layer.weight);
    const Span<const uint8_t> bytes = graph_.list().constant_of(layer.weight).bytes;
    std::vector<double> rows = scales;
    auto row = static_cast<size_t>(numel(weight.sizes)) / static_cast<size_t>(weight.sizes[0]);
    if (layer.is_transposed) {
      // [in, out / groups, ...]: each input of a group has the scales of the group's outputs.
      const auto inputs = static_cast<size_t>(weight.sizes[0]),
                 outputs = static_cast<size_t>(weight.sizes[1]);
      row /= outputs;
      rows.clear();
      for (size_t in = 0; in < inputs; ++in) {
        const size_t group = in / (inputs / static_cast<size_t>(layer.groups));
        for (size_t out = 0; out < outputs; ++out) rows.push_back(scales[group * outputs + out]);
      }
    }
    const auto of_type = [&](auto type) {
      using T = decltype(type);
      return std::pair(scaled<T>(bytes, rows, row), write_as<T>(shifts));
    };
    auto [weights, biases] = with_type(weight.dtype, of_type);
    std::vector<ValueId> arguments = graph_.list().arguments(layer.call);
    arguments[1] = graph_.constant(weight.dtype, weight.sizes, std::move(weights));
    arguments[2] = graph_.constant(weight.dtype, {static_cast<int32_t>(shifts.size())}, std::move(biases));
    arguments.back() = graph_.result(norm_);
    graph_.replace(norm_, layer.name, "out", std::move(arguments));
    graph_.list().remove_call(layer.call);
  }

  Graph& graph_;
  size_t norm_;
};

}  // namespace

bool fold_batch_norm(Graph* graph) {
  bool changed = false;
  for (size_t call = 0; call < graph->num_calls(); ++call) {
    if (graph->name(call) != "aten::_native_batch_norm_legit_no_training.out") continue;
    const std::vector<ValueId> results = graph->writes(call);
    // The saved statistics are empty.
    if (results.size() != 3 || !graph->readers(results[1]).empty() || !graph->readers(results[2]).empty() ||
        graph->is_output(results[1]) || graph->is_output(results[2]))
      continue;
    changed |= Folding(graph, call).run();
  }
  return changed;
}

}  // namespace rushlight::rewrite
