// SPDX-License-Identifier: BSD-3-Clause
// The instructions of a loaded method, the memory that their values share, and what must end before what.
//
// Two instructions keep their order if they use the same value, or the same bytes, and one of them writes.
// Exporters give values that do not live at the same time the same bytes. That alone is no reason to wait,
// if hosts give such values separate memory: values are grouped by the data that flows between them
// (MemoryGroups), and only groups move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/executor/instruction_uses.h"
#include "runtime/executor/method_calls.h"

namespace rushlight {

// A use of a value by an instruction, lists resolved.
struct InstructionUse {
  uint32_t value;
  ValueAccess access;

  [[nodiscard]] bool reads() const { return access != ValueAccess::Written; }
  [[nodiscard]] bool writes() const { return access >= ValueAccess::Written; }
};

// An instruction of any kind.
struct Instruction {
  CallSite site;
  // A kernel call that may execute beside others: the kernel has no state but its arguments.
  bool is_free = false;
  // A kernel call whose result is constant: it does nothing.
  bool is_folded = false;
  // The first instruction of a chain, or a target of a jump: control may come from elsewhere.
  bool is_entered = false;
  std::vector<InstructionUse> uses;
};

// Values that must keep their relative positions in memory, because data flows between them through shared
// bytes: a view and its base, the operands of an in-place call, slices and their whole.
struct MemoryGroup {
  uintptr_t begin = UINTPTR_MAX;  // bytes of all values, before they move
  uintptr_t end = 0;
  std::vector<uint32_t> values;
  // Holds data before or after an execution: an input, an output, a state.
  bool is_kept = false;
};

// The planned tensors of a method by group.
class MemoryGroups {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Groups the values of `instructions`, which are in program order and have no jumps. `outputs` are the
  // values that outlive an execution, with the bases of views. Cost: n log n for n uses.
  MemoryGroups(const Method& method, const std::vector<Instruction>& instructions,
               const std::vector<uint32_t>& outputs);

  [[nodiscard]] const std::vector<MemoryGroup>& groups() const { return groups_; }
  // The group of a value; kNone if it is no tensor with bytes in planned memory.
  [[nodiscard]] uint32_t group_of(uint32_t value) const { return group_of_[value]; }

 private:
  std::vector<MemoryGroup> groups_;
  std::vector<uint32_t> group_of_;
};

// The instructions of a method, and their order.
class CallGraph {
 public:
  // The most instructions, and edges per instruction, of a graph; larger methods execute in their order.
  static constexpr size_t kMostInstructions = 20000;
  static constexpr size_t kMostEdges = 64;

  // Empty if the method is too large, or if tensors get memory during execution in another way than as views.
  // `operators` is the table that the method was loaded with.
  static std::optional<CallGraph> of(Method& method, const OperatorTable& operators);

  [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
  // Instructions that must end before instruction `number` begins: the last instructions that write a value
  // or bytes that it uses, and the instructions since then that use what it overwrites.
  [[nodiscard]] const std::vector<uint32_t>& before(size_t number) const { return before_[number]; }
  // Null if the method has jumps: its values then stay where they are.
  [[nodiscard]] const MemoryGroups* groups() const { return groups_.has_value() ? &*groups_ : nullptr; }

 private:
  bool find_edges(const Method& method);

  std::vector<Instruction> instructions_;
  std::optional<MemoryGroups> groups_;
  std::vector<std::vector<uint32_t>> before_;
};

}  // namespace rushlight
