// SPDX-License-Identifier: BSD-3-Clause
// Masks and tables that a program computes from numbers alone are computed once, by the kernels of the build:
// a second list has those calls, and its method runs here. Only operators whose work is linear in their
// results are folded, so that the limits on bytes bound the time.
#include <utility>

#include "backends/rewrite/passes.h"
#include "runtime/module/module_method.h"
#include "runtime/module/shared_data_loader.h"

namespace rushlight::rewrite {

namespace {

// Limits for one result, and for all: folded constants take memory as long as the module lives.
constexpr uint64_t kMostBytes = uint64_t{1} << 20, kMostInAll = uint64_t{8} << 20;

class Folding {
 public:
  explicit Folding(Graph* graph) : graph_(*graph), is_folded_(graph->num_calls()) {}

  bool run() {
    for (size_t call = 0; call < graph_.num_calls(); ++call) is_folded_[call] = folds(call);
    std::vector<ValueId> wanted;
    for (size_t call = 0; call < graph_.num_calls(); ++call) {
      if (is_folded_[call] && is_needed(graph_.result(call))) wanted.push_back(graph_.result(call));
    }
    return !wanted.empty() && compute(wanted);
  }

 private:
  [[nodiscard]] bool folds(size_t call) {
    if (graph_.is_removed(call) || !graph_.has_no_effect(call)) return false;
    const std::vector<ValueId> results = graph_.writes(call), reads = graph_.reads(call);
    const bool is_linear = reads.empty() || (graph_.traits(call) & (kPointwise | kViews)) != 0;
    if (!is_linear || results.size() != 1) return false;
    const ValueId result = results.front();
    const uint64_t bytes = graph_.list().storage_of(result).bytes;
    if (!graph_.is_stable(result) || graph_.is_output(result) || graph_.is_input(result)) return false;
    if (bytes > kMostBytes || bytes > kMostInAll - total_) return false;
    for (const ValueId id : reads) {
      const int32_t writer = graph_.writer(id);
      if (!graph_.is_constant(id) && (writer == Graph::kNone || !is_folded_[static_cast<size_t>(writer)]))
        return false;
      // Broadcasts read no more than they write.
      if (numel(graph_.sizes(id)) > numel(graph_.sizes(result))) return false;
    }
    total_ += bytes;
    return true;
  }

  // Returns true if a call that is not folded reads the result.
  [[nodiscard]] bool is_needed(ValueId result) const {
    for (const uint32_t reader : graph_.readers(result)) {
      if (!is_folded_[reader]) return true;
    }
    return false;
  }

  bool compute(const std::vector<ValueId>& wanted) {
    CallList calls;
    copies_.assign(graph_.list().num_values(), -1);
    for (size_t call = 0; call < graph_.num_calls(); ++call) {
      if (!is_folded_[call]) continue;
      std::vector<ValueId> arguments;
      for (const ValueId id : graph_.list().arguments(call)) arguments.push_back(copied(id, &calls));
      calls.call(std::string(graph_.name(call)).c_str(), "", std::move(arguments));
    }
    std::vector<ValueId> outputs;
    for (const ValueId id : wanted) outputs.push_back(copied(id, &calls));
    calls.set_outputs(outputs);
    auto file = calls.program();
    if (!file.ok()) return false;
    SharedDataLoader loader(std::shared_ptr<const void>(file->data(), [](const void*) {}), file->size());
    auto program = Program::load(loader);
    if (!program.ok()) return false;
    MethodOptions options;
    options.external_data = &calls;
    auto method = ModuleMethod::load(*program, "forward", graph_.operators(), options);
    if (!method.ok() || (*method)->execute() != Error::Ok) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const EValue& output = (*method)->method().output(i);
      const Tensor tensor = output.to_tensor();
      const CallList::Value& value = graph_.value(wanted[i]);
      // A kernel may shrink its result.
      const Sizes sizes(tensor.sizes().begin(), tensor.sizes().end());
      if (sizes != value.sizes) return false;
      const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
      made_.emplace_back(bytes, bytes + tensor.nbytes());
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      const CallList::Value value = graph_.value(wanted[i]);
      const auto call = static_cast<size_t>(graph_.writer(wanted[i]));
      graph_.list().merge(wanted[i], graph_.constant(value.dtype, value.sizes, std::move(made_[i])));
      graph_.list().remove_call(call);
    }
    return true;
  }

  // The value in the other list. Tensors over one memory stay so.
  ValueId copied(ValueId id, CallList* calls) {
    if (copies_[static_cast<size_t>(id)] >= 0) return copies_[static_cast<size_t>(id)];
    const CallList::Value& value = graph_.value(id);
    ValueId copy = -1;
    if (value.kind == CallList::Kind::Tensor) {
      const auto storage = static_cast<size_t>(value.storage);
      if (storage >= firsts_.size()) firsts_.resize(graph_.list().num_storages(), -1);
      if (graph_.is_constant(id)) {
        copy = calls->constant(value.dtype, value.sizes, value.order, graph_.list().constant_of(id).bytes);
      } else if (firsts_[storage] >= 0) {
        copy = calls->alias(firsts_[storage], value.sizes, value.order);
      } else {
        copy = firsts_[storage] = calls->tensor(value.dtype, value.sizes, value.order);
      }
    } else {
      std::vector<int64_t> items = value.integers;
      if (value.kind == CallList::Kind::IntList || value.kind == CallList::Kind::TensorList ||
          value.kind == CallList::Kind::OptionalTensorList) {
        for (int64_t& item : items) item = item < 0 ? item : copied(static_cast<ValueId>(item), calls);
      }
      copy = calls->plain(value, std::move(items));
    }
    return copies_[static_cast<size_t>(id)] = copy;
  }

  Graph& graph_;
  std::vector<bool> is_folded_;
  uint64_t total_ = 0;
  std::vector<ValueId> copies_, firsts_;  // by value, by storage
  std::vector<std::vector<uint8_t>> made_;
};

}  // namespace

bool fold_constants(Graph* graph) { return Folding(graph).run(); }

}  // namespace rushlight::rewrite
