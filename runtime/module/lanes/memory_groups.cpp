// SPDX-License-Identifier: BSD-3-Clause
// Follows the data: for each byte of planned memory, the value through which it was written last. A value
// that reads the byte belongs to the same group (union-find).
#include <numeric>

#include "runtime/module/lanes/byte_map.h"
#include "runtime/module/lanes/call_graph.h"
#include "runtime/module/lanes/planned_range.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::TableVector;

class Grouping {
 public:
  explicit Grouping(const Method& method)
      : method_(method), values_(method.meta().plan().tables(schema::plan::kValues)), kept_(values_.size()) {
    parents_.resize(values_.size());
    std::iota(parents_.begin(), parents_.end(), 0u);
  }

  void begin() {
    for (uint32_t i = 0; i < parents_.size(); ++i) {
      if (has_initial_state(values_[i])) begin_state(i);
    }
    for (const int32_t i : method_.meta().plan().vector<int32_t>(schema::plan::kInputs))
      keep_written(static_cast<uint32_t>(i));
  }

  void follow(const Instruction& instruction) {
    for (const InstructionUse& use : instruction.uses) {
      if (use.reads()) read(use.value);
    }
    join_in_place(instruction);
    for (const InstructionUse& use : instruction.uses) {
      if (use.writes()) write(use.value);
      // A delegate may keep the address.
      if (use.access == ValueAccess::Any) keep(use.value);
    }
  }

  void end(const std::vector<uint32_t>& outputs) {
    // The next execution reads what this one has left in the bytes of a state, also through another value.
    for (size_t i = 0; i < states_.size(); ++i) read(states_[i]);
    for (const uint32_t value : outputs) {
      read(value);
      keep(value);
    }
  }

  uint32_t find(uint32_t value) {
    while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
    return value;
  }
  [[nodiscard]] bool is_kept(uint32_t value) const { return kept_[value]; }
  [[nodiscard]] size_t size() const { return parents_.size(); }

 private:
  void join(uint32_t a, uint32_t b) { parents_[find(a)] = find(b); }

  void keep(uint32_t value) { kept_[value] = true; }

  void keep_written(uint32_t value) {
    write(value);
    keep(value);
  }

  void begin_state(uint32_t value) {
    keep_written(value);
    states_.push_back(value);
  }

  void read(uint32_t value) {
    const PlannedRange range = planned_range(method_, values_, value);
    if (range.is_empty()) return;
    const bool is_written = writers_.visit(
        range.begin, range.end, [&](uint32_t writer, uintptr_t, uintptr_t) { join(value, writer); });
    // Bytes that nothing has written: what the last execution left there, or zeros.
    if (!is_written) begin_state(value);
  }

  void write(uint32_t value) {
    const PlannedRange range = planned_range(method_, values_, value);
    writers_.set(range.begin, range.end, value);
  }

  // An operand that shares bytes with the result stays with it, so that the call stays in place; so does the
  // base of a view.
  void join_in_place(const Instruction& instruction) {
    for (const InstructionUse& written : instruction.uses) {
      if (!written.writes()) continue;
      const PlannedRange to = planned_range(method_, values_, written.value);
      for (const InstructionUse& use : instruction.uses) {
        if (!use.reads()) continue;
        const PlannedRange from = planned_range(method_, values_, use.value);
        if (from.begin < to.end && to.begin < from.end) join(written.value, use.value);
      }
    }
  }

  const Method& method_;
  const TableVector values_;
  std::vector<uint32_t> parents_;
  std::vector<bool> kept_;
  std::vector<uint32_t> states_;  // read before they are written
  ByteMap<uint32_t> writers_;
};

}  // namespace

MemoryGroups::MemoryGroups(const Method& method, const std::vector<Instruction>& instructions,
                           const std::vector<uint32_t>& outputs) {
  Grouping grouping(method);
  grouping.begin();
  for (const Instruction& instruction : instructions) grouping.follow(instruction);
  grouping.end(outputs);
  const TableVector values = method.meta().plan().tables(schema::plan::kValues);
  group_of_.assign(values.size(), kNone);
  std::vector<uint32_t> of_root(values.size(), kNone);
  for (uint32_t value = 0; value < grouping.size(); ++value) {
    const PlannedRange range = planned_range(method, values, value);
    if (range.is_empty()) continue;
    uint32_t& index = of_root[grouping.find(value)];
    if (index == kNone) {
      index = static_cast<uint32_t>(groups_.size());
      groups_.emplace_back();
    }
    group_of_[value] = index;
    MemoryGroup& group = groups_[index];
    group.begin = range.begin < group.begin ? range.begin : group.begin;
    group.end = range.end > group.end ? range.end : group.end;
    group.values.push_back(value);
    group.is_kept = group.is_kept || grouping.is_kept(value);
  }
}

}  // namespace rushlight
