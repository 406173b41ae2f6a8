// SPDX-License-Identifier: BSD-3-Clause
// A list of calls as a graph: which call writes and which calls read each tensor. Passes look up the calls
// around one, and change them; update() then finds the facts about tensors again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/rewrite/traits.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight::rewrite {

using Sizes = std::vector<int32_t>;

class Graph {
 public:
  // Both must outlive the graph.
  Graph(CallList* list, const OperatorTable& operators);

  CallList& list() { return list_; }
  [[nodiscard]] const CallList& list() const { return list_; }
  // Drops what passes have removed, adds what they inserted, and finds writers and readers again.
  void update();

  // ---- Calls ----

  [[nodiscard]] size_t num_calls() const { return list_.num_calls(); }
  [[nodiscard]] bool is_removed(size_t call) const { return list_.operator_of(call) < 0; }
  // The operator's name, as in KernelEntry; empty for a removed call.
  [[nodiscard]] std::string_view name(size_t call) const;
  [[nodiscard]] TraitSet traits(size_t call) const;
  [[nodiscard]] ValueId argument(size_t call, size_t index) const { return list_.arguments(call)[index]; }
  // The tensors that a call reads or writes, items of lists too.
  [[nodiscard]] std::vector<ValueId> reads(size_t call) const { return tensors(call, false); }
  [[nodiscard]] std::vector<ValueId> writes(size_t call) const { return tensors(call, true); }
  // The one tensor that a call writes first. Precondition: it writes one.
  [[nodiscard]] ValueId result(size_t call) const { return writes(call).front(); }
  [[nodiscard]] const OperatorTable& operators() const { return operators_; }
  // Returns true if the build has the operator, given as in a call.
  [[nodiscard]] bool has(const char* name, const char* overload) const {
    return operators_.find(name, overload) != nullptr;
  }
  // Replaces a call by one that writes the same result.
  void replace(size_t call, const char* name, const char* overload, std::vector<ValueId> arguments);
  // Returns true if a call can be dropped when nothing reads its results.
  [[nodiscard]] bool has_no_effect(size_t call) const;

  // ---- Tensors ----

  static constexpr int32_t kNone = -1;
  // The call that writes a tensor's memory; kNone for constants, inputs and memory that is written twice.
  [[nodiscard]] int32_t writer(ValueId id) const { return facts(id).writer; }
  // The writer, if the call's operator has this name; else kNone.
  [[nodiscard]] int32_t writer(ValueId id, std::string_view name) const;
  [[nodiscard]] const std::vector<uint32_t>& readers(ValueId id) const { return facts(id).readers; }
  // Returns true if the memory is written once at most, so that it may be read at any time after that.
  [[nodiscard]] bool is_stable(ValueId id) const { return facts(id).num_writes <= 1; }
  // Returns true if one call alone reads the tensor's memory, and it is no output.
  [[nodiscard]] bool has_one_reader(ValueId id) const;
  [[nodiscard]] bool is_output(ValueId id) const { return facts(id).is_output; }
  [[nodiscard]] bool is_input(ValueId id) const { return facts(id).is_input; }
  [[nodiscard]] bool is_constant(ValueId id) const {
    return is_tensor(id) && list_.storage_of(id).constant >= 0;
  }
  [[nodiscard]] bool is_tensor(ValueId id) const { return value(id).kind == CallList::Kind::Tensor; }
  [[nodiscard]] const CallList::Value& value(ValueId id) const { return list_.value(id); }
  [[nodiscard]] const Sizes& sizes(ValueId id) const { return value(id).sizes; }
  [[nodiscard]] bool is_row_major(ValueId id) const;
  // A tensor over the same memory with other sizes, both row-major: `id` itself if the sizes are equal. None
  // if the memory is the caller's.
  [[nodiscard]] std::optional<ValueId> reshaped(ValueId id, const Sizes& sizes);
  // The same with any dim order; the sizes in memory order must be equal.
  [[nodiscard]] std::optional<ValueId> relaid(ValueId id, Sizes sizes, std::vector<uint8_t> order);
  // Returns true if both are row-major tensors over the same memory.
  [[nodiscard]] bool same_elements(ValueId a, ValueId b) const;

  // A new tensor that a call writes, and a new constant.
  [[nodiscard]] ValueId tensor(ScalarType dtype, Sizes sizes, std::vector<uint8_t> order = {});
  [[nodiscard]] ValueId constant(ScalarType dtype, Sizes sizes, std::vector<uint8_t> bytes);

  // ---- Numbers ----

  // The value of a number, or of a tensor that holds one known number: a constant, a fill, or a conversion of
  // one.
  [[nodiscard]] std::optional<double> number(ValueId id) const;
  [[nodiscard]] bool is_number(ValueId id, double expected) const;
  [[nodiscard]] std::optional<int64_t> integer(ValueId id) const;
  // The items of a list of integers.
  [[nodiscard]] std::vector<int64_t> integers(ValueId id) const;

 private:
  struct Facts {
    int32_t writer = kNone;
    uint32_t num_writes = 0;
    bool is_input = false, is_output = false;
    std::vector<uint32_t> readers;  // each call once
  };

  // Memory that a pass has added is unknown until update(): written by nothing that passes may rely on.
  [[nodiscard]] const Facts& facts(ValueId id) const {
    const auto storage = static_cast<size_t>(value(id).storage);
    return storage < facts_.size() ? facts_[storage] : unknown_;
  }
  [[nodiscard]] std::vector<ValueId> tensors(size_t call, bool written) const;
  [[nodiscard]] ValueId source_of_number(ValueId id) const;
  // The rows of the operator of a call in the tables; looked up once per operator.
  struct Row {
    const KernelEntry* kernel = nullptr;
    TraitSet traits = 0;
  };
  [[nodiscard]] const Row& row(size_t call) const;

  CallList& list_;
  const OperatorTable& operators_;
  mutable std::vector<Row> rows_;  // by the list's operator index
  std::vector<Facts> facts_;       // by storage
  const Facts unknown_ = {kNone, 2, false, false, {}};
};

[[nodiscard]] int64_t numel(const Sizes& sizes);
[[nodiscard]] std::vector<uint8_t> row_major(size_t rank);

}  // namespace rushlight::rewrite
