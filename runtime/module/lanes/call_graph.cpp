// SPDX-License-Identifier: BSD-3-Clause
// Edges come from two maps: of values, and of bytes by memory group. Each remembers the last writer and the
// readers since. A method with jumps has one group, the whole planned memory.
#include "runtime/module/lanes/call_graph.h"

#include <algorithm>
#include <map>

#include "runtime/module/lanes/byte_map.h"
#include "runtime/module/lanes/planned_range.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;

constexpr uint32_t kNobody = UINT32_MAX;
// Readers that are remembered for some bytes. The next one follows all of them and stands for them, so that
// a program whose ranges are split often needs no quadratic memory.
constexpr size_t kMostReaders = 64;

// The uses of some bytes, or of a value, since and including the last write.
struct LastUses {
  uint32_t writer = kNobody;
  std::vector<uint32_t> readers;
};

class EdgeFinder {
 public:
  EdgeFinder(const Method& method, const MemoryGroups* groups)
      : method_(method),
        groups_(groups),
        values_(method.meta().plan().tables(schema::plan::kValues)),
        of_value_(values_.size()),
        of_group_(groups == nullptr ? 1 : groups->groups().size()) {}

  // The instructions that `number` must follow. They are all smaller.
  std::vector<uint32_t> follow(uint32_t number, const Instruction& instruction) {
    found_.clear();
    for (const InstructionUse& use : instruction.uses) {
      if (!use.reads()) continue;
      read(number, use.value);
    }
    for (const InstructionUse& use : instruction.uses) {
      if (use.writes()) write(number, use.value);
    }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    if (!found_.empty() && found_.back() == number) found_.pop_back();
    return found_;
  }

 private:
  // Memory of the caller, which may give the same to several values: a value reads a separate address
  // there, and writes all.
  [[nodiscard]] bool is_lent(uint32_t value) const {
    if (!is_tensor(values_, value)) return false;
    const Storage storage = method_.tensor(value).impl()->storage();
    return storage == Storage::Lent || storage == Storage::Given || storage == Storage::None;
  }

  ByteMap<LastUses>& bytes_of(uint32_t value) {
    return of_group_[groups_ == nullptr ? 0 : groups_->group_of(value)];
  }

  void after(uint32_t instruction) {
    if (instruction != kNobody) found_.push_back(instruction);
  }

  void after_all(const LastUses& uses) {
    after(uses.writer);
    found_.insert(found_.end(), uses.readers.begin(), uses.readers.end());
  }

  void read(uint32_t number, LastUses& uses) {
    after(uses.writer);
    if (!uses.readers.empty() && uses.readers.back() == number) return;
    if (uses.readers.size() == kMostReaders) {
      after_all(uses);
      uses.readers.clear();
    }
    uses.readers.push_back(number);
  }

  void read(uint32_t number, uint32_t value) {
    read(number, of_value_[value]);
    if (is_lent(value)) read_bytes(number, lent_, value, uintptr_t{value} + 1);
    const PlannedRange range = planned_range(method_, values_, value);
    if (!range.is_empty()) read_bytes(number, bytes_of(value), range.begin, range.end);
  }

  void read_bytes(uint32_t number, ByteMap<LastUses>& map, uintptr_t begin, uintptr_t end) {
    uintptr_t at = begin;
    std::vector<PlannedRange> gaps;
    map.visit(begin, end, [&](LastUses& uses, uintptr_t from, uintptr_t to) {
      if (at < from) gaps.push_back({at, from});
      read(number, uses);
      at = to;
    });
    if (at < end) gaps.push_back({at, end});
    for (const PlannedRange& gap : gaps) map.set(gap.begin, gap.end, {kNobody, {number}});
  }

  void write(uint32_t number, uint32_t value) {
    after_all(of_value_[value]);
    of_value_[value] = {number, {}};
    if (is_lent(value)) write_bytes(number, lent_, 0, values_.size());
    const PlannedRange range = planned_range(method_, values_, value);
    if (!range.is_empty()) write_bytes(number, bytes_of(value), range.begin, range.end);
  }

  void write_bytes(uint32_t number, ByteMap<LastUses>& map, uintptr_t begin, uintptr_t end) {
    map.visit(begin, end, [&](LastUses& uses, uintptr_t, uintptr_t) { after_all(uses); });
    map.set(begin, end, {number, {}});
  }

  const Method& method_;
  const MemoryGroups* groups_;
  const TableVector values_;
  std::vector<LastUses> of_value_;
  std::vector<ByteMap<LastUses>> of_group_;
  ByteMap<LastUses> lent_;
  std::vector<uint32_t> found_;
};

// Tensors that calls make views of others, and what they show, in program order. A use of a view is also a
// use of what it shows.
class Views {
 public:
  // Tensors that a view may show; a longer chain of views is not followed.
  static constexpr size_t kMost = 64;

  // Adds the uses of what the instruction's views show, then notes the views that it makes.
  void follow(const MethodCalls& calls, Instruction* instruction) {
    const TableVector values = calls.plan().tables(schema::plan::kValues);
    std::vector<InstructionUse> uses;
    std::vector<uint32_t> shown;
    for (const InstructionUse& use : instruction->uses) {
      uses.push_back(use);
      if (use.access == ValueAccess::Shown) add(use.value, &shown);
      // A call that replaces a view leaves the bytes alone that it showed before.
      if (use.access == ValueAccess::Replaced && is_tensor(values, use.value)) continue;
      for (const uint32_t base : bases_of(use.value)) uses.push_back({base, use.access});
    }
    for (const InstructionUse& use : instruction->uses) {
      if (use.access == ValueAccess::Replaced && is_tensor(values, use.value)) bases_[use.value] = shown;
    }
    is_too_long_ = is_too_long_ || shown.size() > kMost;
    if (!is_too_long_) instruction->uses = std::move(uses);
  }

  // Appends a value and what it shows.
  void add(uint32_t value, std::vector<uint32_t>* to) const {
    to->push_back(value);
    const std::vector<uint32_t>& bases = bases_of(value);
    to->insert(to->end(), bases.begin(), bases.end());
  }

  [[nodiscard]] bool is_too_long() const { return is_too_long_; }

 private:
  [[nodiscard]] const std::vector<uint32_t>& bases_of(uint32_t value) const {
    const auto found = bases_.find(value);
    return found == bases_.end() || is_too_long_ ? none_ : found->second;
  }

  std::map<uint32_t, std::vector<uint32_t>> bases_;
  std::vector<uint32_t> none_;
  bool is_too_long_ = false;
};

// Adds a read for each argument that the call may change in part, such as a cache: its bytes hold what was
// there before. Results are the last arguments of a schema, and are written as a whole; an operator of an
// application may do anything.
void add_updates(const MethodCalls& calls, const OperatorTable& operators, Instruction* made) {
  const KernelEntry& kernel = calls.kernel(made->site.call);
  size_t results = std::strlen(kernel.signature);
  if (!operators.keeps_order(kernel)) {
    while (results > 0 && is_written(kernel.signature[results - 1])) --results;
  }
  const auto indices = made->site.call.vector<int32_t>(schema::kernel_call::kArgs);
  for (size_t i = 0; i < results; ++i) {
    if (!is_written(kernel.signature[i])) continue;
    for_each_named(calls.values(), static_cast<size_t>(indices[i]), [&](size_t named) {
      made->uses.push_back({static_cast<uint32_t>(named), ValueAccess::Read});
    });
  }
}

// Reads the instructions of all chains. Sets `*jumps` if control may not follow their order.
std::vector<Instruction> read_instructions(const MethodCalls& calls, const OperatorTable& operators,
                                           bool* jumps, Views* views) {
  std::vector<Instruction> all;
  const TableVector chains = calls.plan().tables(schema::plan::kChains);
  for (size_t c = 0; c < chains.size(); ++c) {
    const TableVector chain = chains[c].tables(schema::chain::kInstructions);
    const size_t first = all.size();
    all.resize(first + chain.size());
    for (size_t at = 0; at < chain.size(); ++at) {
      Instruction& made = all[first + at];
      const Table arguments = chain[at].table(schema::instruction::kInstrArgs);
      const InstructionKind kind = kind_of(chain[at]);
      made.site = {arguments, first + at, at};
      made.is_entered = made.is_entered || at == 0;
      made.is_folded = calls.is_folded(first + at);
      if (kind == InstructionKind::KernelCall) {
        const KernelEntry& kernel = calls.kernel(arguments);
        made.is_free = !operators.keeps_order(kernel) && std::strchr(kernel.signature, 'e') == nullptr;
      }
      if (kind == InstructionKind::JumpFalseCall) {
        *jumps = true;
        const auto to = arguments.scalar<int32_t>(schema::jump_false_call::kDestinationInstruction);
        if (static_cast<size_t>(to) < chain.size()) all[first + static_cast<size_t>(to)].is_entered = true;
      }
      *jumps = *jumps || kind == InstructionKind::MoveCall;
      if (made.is_folded) continue;
      for_each_use(chain[at], calls.kernels(), [&](size_t value, ValueAccess access) {
        for_each_named(calls.values(), value,
                       [&](size_t named) { made.uses.push_back({static_cast<uint32_t>(named), access}); });
      });
      if (kind == InstructionKind::KernelCall) add_updates(calls, operators, &made);
      views->follow(calls, &made);
    }
  }
  return all;
}

}  // namespace

std::optional<CallGraph> CallGraph::of(Method& method, const OperatorTable& operators) {
  const MethodCalls calls(method);
  if (method.num_instructions() > kMostInstructions) return std::nullopt;
  CallGraph graph;
  bool jumps = false;
  Views views;
  graph.instructions_ = read_instructions(calls, operators, &jumps, &views);
  // Where control may come from elsewhere, the order of the program does not tell what a view shows.
  if (views.is_too_long() || (jumps && calls.memory_changes())) return std::nullopt;
  std::vector<uint32_t> outputs;
  for (const int32_t output : calls.plan().vector<int32_t>(schema::plan::kOutputs))
    views.add(static_cast<uint32_t>(output), &outputs);
  if (!jumps) graph.groups_.emplace(method, graph.instructions_, outputs);
  if (!graph.find_edges(method)) return std::nullopt;
  return graph;
}

bool CallGraph::find_edges(const Method& method) {
  EdgeFinder finder(method, groups());
  size_t edges = 0;
  before_.reserve(instructions_.size());
  for (uint32_t number = 0; number < instructions_.size(); ++number) {
    before_.push_back(finder.follow(number, instructions_[number]));
    edges += before_.back().size();
    if (edges > kMostEdges * instructions_.size()) return false;
  }
  return true;
}

}  // namespace rushlight
