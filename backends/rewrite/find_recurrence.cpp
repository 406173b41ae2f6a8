// SPDX-License-Identifier: BSD-3-Clause
// Recurrent layers, which the official exporter unrolls: a product and some ten elementwise calls for each
// step. A step is found from the call that writes its hidden state; steps that continue each other, and use
// all gates of one product of the inputs in order, are one layer of the recurrent operators, whose kernels
// keep the state in registers or cache. kernels/matmul/recurrence.h has the equations.
//
// The operators take the gates with all biases of the hidden state's product but that of the GRU's candidate;
// they are added to the bias of the inputs' product.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/rewrite/passes.h"

namespace rushlight::rewrite {

namespace {

enum class Unit : uint8_t { kLstm, kGru, kTanh, kRelu };

struct Step {
  Unit unit;
  ValueId hidden, cell = -1;  // after the step; `cell` is the LSTM's
  ValueId before = -1, cell_before = -1;
  ValueId weight = -1, bias = -1;
  ValueId gates = -1;  // [steps, batch, gates * units], of all steps
  int64_t index = -1;  // of this one
  size_t call = 0;     // writes `hidden`
  std::vector<size_t> calls;
};

// One part of a tensor that was split along its last dimension into `count` equal parts.
struct Part {
  ValueId of = -1;
  size_t index = 0;
};

using Pair = std::array<ValueId, 2>;

// Matches the step whose hidden state one call writes.
class StepOf {
 public:
  StepOf(const Graph& graph, size_t call) : graph_(graph) { step_.call = call; }

  std::optional<Step> find() {
    const std::string_view name = graph_.name(step_.call);
    const bool is_state = name == "aten::mul.out" || name == "aten::add.out" || name == "aten::tanh.out" ||
                          name == "aten::relu.out";
    if (!is_state) return std::nullopt;
    step_.hidden = graph_.result(step_.call);
    step_.calls = {step_.call};
    const bool is_found = name == "aten::mul.out"   ? is_lstm()
                          : name == "aten::add.out" ? is_gru()
                                                    : is_plain();
    return is_found && is_sound() ? std::optional<Step>(std::move(step_)) : std::nullopt;
  }

 private:
  // The call of that name that writes a tensor, which becomes one of the step's; kNone if there is none. The
  // tensor may be -1: none.
  int32_t made_by(ValueId id, std::string_view name) {
    const int32_t call = id < 0 ? Graph::kNone : graph_.writer(id, name);
    if (call != Graph::kNone) step_.calls.push_back(static_cast<size_t>(call));
    return call;
  }
  [[nodiscard]] ValueId argument(int32_t call, size_t index) const {
    return graph_.argument(static_cast<size_t>(call), index);
  }
  // The operand of a function of one tensor; -1 if the tensor is not its result.
  ValueId operand(ValueId id, std::string_view name) {
    const int32_t call = made_by(id, name);
    return call == Graph::kNone ? -1 : argument(call, 0);
  }
  // Calls found(a, b) for both orders of the operands of a sum, product or difference until it returns true.
  template <class Found>
  bool either(ValueId id, std::string_view name, Found found) {
    const int32_t call = made_by(id, name);
    if (call == Graph::kNone) return false;
    const ValueId a = argument(call, 0), b = argument(call, 1);
    if (!graph_.is_tensor(a) || !graph_.is_tensor(b)) return false;
    if (name == "aten::add.out" && !graph_.is_number(argument(call, 2), 1)) return false;
    const size_t kept = step_.calls.size();
    if (found(a, b)) return true;
    step_.calls.resize(kept);
    return found(b, a);
  }

  // The size of the last dimension; -1 if there is none.
  [[nodiscard]] int64_t last_size(ValueId id) const {
    return graph_.sizes(id).empty() ? -1 : int64_t{graph_.sizes(id).back()};
  }

  // The part of a split that a tensor is.
  std::optional<Part> part(ValueId id, size_t count) {
    const int32_t call = made_by(id, "aten::split_with_sizes_copy.out");
    if (call == Graph::kNone) return std::nullopt;
    const ValueId of = argument(call, 0);
    const std::vector<int64_t>& items = graph_.value(argument(call, 3)).integers;
    const auto rank = static_cast<int64_t>(graph_.sizes(of).size());
    const std::optional<int64_t> dim = graph_.integer(argument(call, 2));
    if (items.size() != count || !dim.has_value() || (*dim != -1 && *dim != rank - 1)) {
      return std::nullopt;
    }
    for (size_t i = 0; i < count; ++i) {
      if (graph_.value(static_cast<ValueId>(items[i])).storage != graph_.value(id).storage) continue;
      const bool is_equal = last_size(id) * static_cast<int64_t>(count) == last_size(of);
      return is_equal ? std::optional<Part>(Part{of, i}) : std::nullopt;
    }
    return std::nullopt;
  }
  // Part `index` of a split of the function's operand: a gate.
  ValueId gate(ValueId id, std::string_view function, size_t index) {
    const std::optional<Part> found = part(operand(id, function), 4);
    return found.has_value() && found->index == index ? found->of : -1;
  }

  // The product of the hidden state before the step.
  bool is_product(ValueId id) {
    const int32_t call = made_by(id, "aten::linear.out");
    if (call == Graph::kNone) return false;
    step_.before = argument(call, 0);
    step_.weight = argument(call, 1);
    step_.bias = argument(call, 2);
    return true;
  }
  // The gates of one step: an index of the first dimension, which layers in reverse have flipped.
  bool is_of_inputs(ValueId id) {
    int32_t call = made_by(id, "aten::slice_copy.Tensor_out");
    if (call == Graph::kNone) call = made_by(id, "aten::select_copy.int_out");
    if (call == Graph::kNone) return false;
    const ValueId gates = argument(call, 0);
    const std::optional<int64_t> dim = graph_.integer(argument(call, 1));
    const std::optional<int64_t> first = graph_.integer(argument(call, 2));
    if (graph_.sizes(gates).size() != 3 || !dim.has_value() || *dim != 0 || !first.has_value()) return false;
    const int64_t steps = graph_.sizes(gates)[0], index = *first < 0 ? *first + steps : *first;
    // A slice of one index has the elements of one step.
    const bool is_one = numel(graph_.sizes(id)) * steps == numel(graph_.sizes(gates));
    if (index < 0 || index >= steps || !is_one) return false;
    const int32_t flip = made_by(gates, "aten::flip.out");
    const bool flips = flip != Graph::kNone && graph_.is_row_major(gates) &&
                       graph_.integers(argument(flip, 1)) == std::vector<int64_t>{0} &&
                       graph_.sizes(argument(flip, 0)) == graph_.sizes(gates);
    step_.gates = flips ? argument(flip, 0) : gates;
    step_.index = flips ? steps - 1 - index : index;
    return true;
  }
  // The sum of both.
  bool is_sum(ValueId id) {
    return either(id, "aten::add.out",
                  [&](ValueId a, ValueId b) { return is_product(a) && is_of_inputs(b); });
  }

  // sigmoid(o) tanh(cell)
  bool is_lstm() {
    ValueId sum = -1;
    const bool is_found = either(step_.hidden, "aten::mul.out", [&](ValueId a, ValueId b) {
      sum = gate(a, "aten::sigmoid.out", 3);
      step_.cell = sum < 0 ? -1 : operand(b, "aten::tanh.out");
      return step_.cell >= 0 && is_cell(step_.cell, sum);
    });
    step_.unit = Unit::kLstm;
    return is_found && is_sum(sum);
  }
  // sigmoid(f) cell_before + sigmoid(i) tanh(g)
  bool is_cell(ValueId cell, ValueId sum) {
    return either(cell, "aten::add.out", [&](ValueId kept, ValueId added) {
      const bool keeps = either(kept, "aten::mul.out", [&](ValueId a, ValueId b) {
        step_.cell_before = b;
        return is_same(gate(a, "aten::sigmoid.out", 1), sum);
      });
      return keeps && either(added, "aten::mul.out", [&](ValueId a, ValueId b) {
               return is_same(gate(a, "aten::sigmoid.out", 0), sum) &&
                      is_same(gate(b, "aten::tanh.out", 2), sum);
             });
    });
  }
  [[nodiscard]] bool is_same(ValueId a, ValueId b) const { return a >= 0 && graph_.same_elements(a, b); }

  // (before - n) z + n
  bool is_gru() {
    ValueId before = -1, update = -1, candidate = -1;
    const bool is_found = either(step_.hidden, "aten::add.out", [&](ValueId moved, ValueId n) {
      candidate = n;
      return either(moved, "aten::mul.out", [&](ValueId difference, ValueId z) {
        const int32_t sub = made_by(difference, "aten::sub.out");
        if (sub == Graph::kNone || !graph_.is_number(argument(sub, 2), 1)) return false;
        if (!graph_.is_tensor(argument(sub, 1)) || !is_same(argument(sub, 1), n)) return false;
        before = argument(sub, 0);
        update = z;
        return true;
      });
    });
    step_.unit = Unit::kGru;
    if (!is_found || !is_gate_of_gru(operand(update, "aten::sigmoid.out"), 1)) return false;
    // tanh(gates + r states)
    const bool is_candidate =
        either(operand(candidate, "aten::tanh.out"), "aten::add.out", [&](ValueId a, ValueId b) {
          return is_part(a, 2, &of_inputs_) && either(b, "aten::mul.out", [&](ValueId r, ValueId states) {
                   return is_part(states, 2, &of_states_) &&
                          is_gate_of_gru(operand(r, "aten::sigmoid.out"), 0);
                 });
        });
    return is_candidate && is_of_inputs(of_inputs_) && is_product(of_states_) &&
           is_same(before, step_.before);
  }
  // Part `index` of the gates plus part `index` of the hidden state's product.
  bool is_gate_of_gru(ValueId id, size_t index) {
    return id >= 0 && either(id, "aten::add.out", [&](ValueId a, ValueId b) {
             const Pair kept = {of_inputs_, of_states_};
             if (is_part(a, index, &of_inputs_) && is_part(b, index, &of_states_) &&
                 graph_.writer(of_states_, "aten::linear.out") != Graph::kNone)
               return true;
             of_inputs_ = kept[0];
             of_states_ = kept[1];
             return false;
           });
  }
  // The first part that is found sets `of`; others are of the same tensor.
  bool is_part(ValueId id, size_t index, ValueId* of) {
    const std::optional<Part> found = part(id, 3);
    if (!found.has_value() || found->index != index) return false;
    if (*of < 0) *of = found->of;
    return is_same(found->of, *of);
  }

  bool is_plain() {
    const bool is_tanh = graph_.name(step_.call) == "aten::tanh.out";
    step_.unit = is_tanh ? Unit::kTanh : Unit::kRelu;
    return is_sum(graph_.argument(step_.call, 0));
  }

  // Shapes and dtypes as the operators need them, and memory that still has its elements after the last step.
  [[nodiscard]] bool is_sound() const {
    const ScalarType dtype = graph_.value(step_.hidden).dtype;
    const Sizes &gates = graph_.sizes(step_.gates), &weight = graph_.sizes(step_.weight);
    if (!is_floating(dtype) || weight.size() != 2) return false;
    const int64_t batch = gates[1], units = weight[1], elements = batch * units;
    if (gates[2] != weight[0] || weight[0] != units * num_gates() || !graph_.is_constant(step_.weight))
      return false;
    for (const ValueId id : {step_.hidden, step_.before, step_.cell, step_.cell_before}) {
      if (id >= 0 && (numel(graph_.sizes(id)) != elements || last_size(id) != units)) return false;
    }
    for (const ValueId id :
         {step_.hidden, step_.before, step_.cell, step_.cell_before, step_.gates, step_.weight}) {
      if (id < 0) continue;
      if (graph_.value(id).dtype != dtype || !graph_.is_row_major(id) || !graph_.is_stable(id)) return false;
    }
    return !has_bias() || (graph_.is_constant(step_.bias) && graph_.sizes(step_.bias) == Sizes{weight[0]} &&
                           graph_.value(step_.bias).dtype == dtype);
  }
  [[nodiscard]] int64_t num_gates() const {
    return step_.unit == Unit::kLstm ? 4 : step_.unit == Unit::kGru ? 3 : 1;
  }
  [[nodiscard]] bool has_bias() const { return graph_.is_tensor(step_.bias); }

  const Graph& graph_;
  Step step_{};
  ValueId of_inputs_ = -1, of_states_ = -1;  // the GRU's: what was split
};

// Consecutive steps of one layer.
class Layer {
 public:
  Layer(Graph* graph, Step first) : graph_(*graph) { steps_.push_back(std::move(first)); }

  // Appends a step that continues the last one. Returns false, without effect, if it does not.
  bool append(const Step& step) {
    const Step& last = steps_.back();
    const auto is_same = [&](ValueId a, ValueId b) {
      return a == b || (a >= 0 && b >= 0 && graph_.same_elements(a, b));
    };
    const auto is_same_bias = [&](ValueId a, ValueId b) {
      const bool has = graph_.is_tensor(a);
      return has == graph_.is_tensor(b) && (!has || graph_.same_elements(a, b));
    };
    const int64_t direction = step.index - last.index;
    const bool continues = step.unit == last.unit && is_same(step.before, last.hidden) &&
                           is_same(step.cell_before, last.cell) && is_same(step.weight, last.weight) &&
                           is_same_bias(step.bias, last.bias) && is_same(step.gates, last.gates) &&
                           (direction == 1 || direction == -1) &&
                           (steps_.size() == 1 || direction == last.index - steps_[steps_.size() - 2].index);
    if (continues) steps_.push_back(step);
    return continues;
  }

  // Replaces the steps by one call, if they use all gates and nothing else reads the states between them.
  bool replace() {
    const auto count = static_cast<int64_t>(steps_.size());
    const Sizes gates = graph_.sizes(steps_.front().gates);
    if (count < 2 || count != gates[0] || !graph_.has(name(), "out")) return false;
    is_reversed_ = steps_.back().index == 0;
    if (!find_output() || !are_private()) return false;
    CallList& list = graph_.list();
    const Step first = steps_.front(), last = steps_.back();
    const int32_t batch = gates[1], units = graph_.sizes(first.weight)[1];
    const Sizes state = {batch, units}, all = {gates[0], batch, units};
    const ScalarType dtype = graph_.value(last.hidden).dtype;
    const auto hidden = graph_.reshaped(first.before, state),
               last_hidden = graph_.reshaped(last.hidden, state);
    const auto output = output_ < 0 ? graph_.tensor(dtype, all) : graph_.reshaped(output_, all);
    if (!hidden.has_value() || !last_hidden.has_value() || !output.has_value()) return false;
    std::optional<ValueId> cell, last_cell;
    if (first.unit == Unit::kLstm) {
      cell = graph_.reshaped(first.cell_before, state);
      last_cell = graph_.reshaped(last.cell, state);
      if (!cell.has_value() || !last_cell.has_value()) return false;
    }
    const ValueId sum = biased_gates(), reverse = list.boolean(is_reversed_);
    std::vector<ValueId> arguments = {sum, *hidden};
    if (cell.has_value()) arguments.push_back(*cell);
    arguments.push_back(first.weight);
    if (first.unit == Unit::kGru) arguments.push_back(candidate_bias_ < 0 ? list.none() : candidate_bias_);
    arguments.insert(arguments.end(), {reverse, *output, *last_hidden});
    if (last_cell.has_value()) {
      arguments.push_back(*last_cell);
      list.remove_call(static_cast<size_t>(graph_.writer(last.cell)));
    }
    if (cat_ != Graph::kNone) list.remove_call(static_cast<size_t>(cat_));
    graph_.replace(last.call, name(), "out", std::move(arguments));
    return true;
  }

 private:
  [[nodiscard]] const char* name() const {
    switch (steps_.front().unit) {
      case Unit::kLstm:
        return "rushlight::lstm";
      case Unit::kGru:
        return "rushlight::gru";
      case Unit::kTanh:
        return "rushlight::rnn_tanh";
      default:
        return "rushlight::rnn_relu";
    }
  }
  // The step of an index.
  [[nodiscard]] const Step& at(size_t index) const {
    return steps_[is_reversed_ ? steps_.size() - 1 - index : index];
  }

  // The call that joins the hidden states of all steps, if there is one. Returns false if a state is read by
  // a call that joins others.
  bool find_output() {
    for (const uint32_t reader : graph_.readers(steps_.front().hidden)) {
      if (graph_.name(reader) != "aten::cat.out") continue;
      const std::vector<int64_t>& items = graph_.value(graph_.argument(reader, 0)).integers;
      bool joins = graph_.is_number(graph_.argument(reader, 1), 0) && items.size() == steps_.size();
      for (size_t i = 0; joins && i < items.size(); ++i) {
        const auto item = static_cast<ValueId>(items[i]);
        joins = graph_.same_elements(item, at(i).hidden) && !graph_.sizes(item).empty() &&
                graph_.sizes(item)[0] == 1;
      }
      const ValueId result = graph_.result(reader);
      if (!joins || cat_ != Graph::kNone || !graph_.is_row_major(result) || !graph_.is_stable(result))
        return false;
      cat_ = static_cast<int32_t>(reader);
      output_ = result;
    }
    return true;
  }

  [[nodiscard]] static bool has(const std::vector<size_t>& calls, size_t call) {
    return std::find(calls.begin(), calls.end(), call) != calls.end();
  }
  // Returns true if the states between the steps have no reader but the next step and the output, and nothing
  // that remains reads the last cell before the call that writes the last hidden state.
  [[nodiscard]] bool are_private() const {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const bool is_last = i + 1 == steps_.size();
      for (const ValueId state : {steps_[i].hidden, steps_[i].cell}) {
        if (state < 0) continue;
        if (!is_last && graph_.is_output(state)) return false;
        for (const uint32_t reader : graph_.readers(state)) {
          const bool is_own = has(steps_[i].calls, reader) || static_cast<int32_t>(reader) == cat_;
          const bool is_free = is_last ? reader > steps_[i].call : has(steps_[i + 1].calls, reader);
          if (!is_own && !is_free) return false;
          const bool is_early = is_last && state == steps_[i].cell && reader < steps_[i].call;
          if (is_early && !graph_.has_one_reader(graph_.result(reader))) return false;
        }
      }
    }
    return true;
  }

  // The gates with the biases of the hidden state's product, except for the candidate's. Constant biases of
  // both products are added once, by fold_constants().
  ValueId biased_gates() {
    const Step &first = steps_.front(), &last = steps_.back();
    if (!graph_.is_tensor(first.bias)) return first.gates;
    CallList& list = graph_.list();
    const ScalarType dtype = graph_.value(first.bias).dtype;
    ValueId bias = first.bias;
    const Sizes sizes = graph_.sizes(bias);
    if (first.unit == Unit::kGru) {
      const Span<const uint8_t> bytes = list.constant_of(bias).bytes;
      const auto kept = static_cast<ptrdiff_t>(bytes.size() / 3 * 2);
      std::vector<uint8_t> gates(bytes.begin(), bytes.begin() + kept);
      gates.resize(bytes.size());  // zeros for the candidate
      candidate_bias_ =
          graph_.constant(dtype, {sizes[0] / 3}, std::vector<uint8_t>(bytes.begin() + kept, bytes.end()));
      bias = graph_.constant(dtype, sizes, std::move(gates));
    }
    if (const auto own = bias_of_gates(sizes); own.has_value()) {
      const auto [call, index] = *own;
      const ValueId added = graph_.argument(call, index);
      if (graph_.is_tensor(added)) {
        const ValueId sum = graph_.tensor(dtype, sizes);
        list.insert_call(call, call, "aten::add", "out", {added, bias, list.integer(1), sum});
        bias = sum;
      }
      list.set_argument(call, index, bias);
      return first.gates;
    }
    const ValueId sum = graph_.tensor(dtype, graph_.sizes(first.gates));
    list.insert_call(last.call, last.call, "aten::add", "out", {first.gates, bias, list.integer(1), sum});
    return sum;
  }
  // The call and argument that add a bias of these sizes to the gates, which nothing but the steps reads: a
  // linear layer, which may have none, or the sum of a product and a constant.
  [[nodiscard]] std::optional<std::pair<size_t, size_t>> bias_of_gates(const Sizes& sizes) const {
    const ValueId gates = steps_.front().gates;
    const int32_t product = graph_.writer(gates, "aten::linear.out"),
                  sum = graph_.writer(gates, "aten::add.out");
    if (!reads_gates_alone() || (product == Graph::kNone && sum == Graph::kNone)) return std::nullopt;
    const auto call = static_cast<size_t>(product != Graph::kNone ? product : sum);
    const ValueId bias = graph_.argument(call, product != Graph::kNone ? 2 : 1);
    const bool fits = graph_.is_tensor(bias) && graph_.is_constant(bias) && graph_.sizes(bias) == sizes &&
                      graph_.value(bias).dtype == graph_.value(gates).dtype;
    if (product != Graph::kNone) {
      return fits || !graph_.is_tensor(bias) ? std::optional(std::pair(call, size_t{2})) : std::nullopt;
    }
    return fits && graph_.is_number(graph_.argument(call, 2), 1) ? std::optional(std::pair(call, size_t{1}))
                                                                 : std::nullopt;
  }
  // Returns true if the steps alone read the gates.
  [[nodiscard]] bool reads_gates_alone() const {
    if (graph_.is_output(steps_.front().gates)) return false;
    std::vector<size_t> own;
    for (const Step& step : steps_) own.insert(own.end(), step.calls.begin(), step.calls.end());
    std::sort(own.begin(), own.end());
    const std::vector<uint32_t>& readers = graph_.readers(steps_.front().gates);
    return std::all_of(readers.begin(), readers.end(), [&](uint32_t reader) {
      return std::binary_search(own.begin(), own.end(), size_t{reader});
    });
  }

  Graph& graph_;
  std::vector<Step> steps_;
  bool is_reversed_ = false;
  int32_t cat_ = Graph::kNone;
  ValueId output_ = -1, candidate_bias_ = -1;
};

}  // namespace

bool find_recurrence(Graph* graph) {
  std::vector<Layer> layers;
  std::vector<size_t> layer_of(graph->list().num_storages(), SIZE_MAX);  // that ends with a hidden state
  const auto layer_after = [&](ValueId hidden) -> size_t& {
    return layer_of[static_cast<size_t>(graph->value(hidden).storage)];
  };
  for (size_t call = 0; call < graph->num_calls(); ++call) {
    const std::optional<Step> step = StepOf(*graph, call).find();
    if (!step.has_value()) continue;
    size_t layer = layer_after(step->before);
    if (layer == SIZE_MAX || !layers[layer].append(*step)) {
      layer = layers.size();
      layers.emplace_back(graph, *step);
    }
    layer_after(step->hidden) = layer;
  }
  bool changed = false;
  for (Layer& layer : layers) changed |= layer.replace();
  return changed;
}

}  // namespace rushlight::rewrite
