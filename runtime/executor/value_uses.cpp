// SPDX-License-Identifier: BSD-3-Clause
// First pass: walk() visits uses in program order and mark() records the first and last use of each value.
// Second pass: follow_slots() keeps the set of live values and of candidate owners by memory range
// (slot_set.h). Each use inserts or erases a bounded number of ranges, so the cost is n log n.
#include "runtime/executor/value_uses.h"

#include "runtime/base/assert.h"
#include "runtime/executor/instruction_uses.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;

constexpr uint32_t kEnd = UINT32_MAX;

}  // namespace

ValueUses::ValueUses(Table plan, const MethodValues& values, const KernelEntry* const* kernels,
                     size_t planned, Arena* memory)
    : values_(values), kernels_(kernels), count_(plan.tables(schema::plan::kValues).size()) {
  // ValueUse stores the index of a range in 24 bits.
  if (planned > kMaxSlots || memory->size() - memory->used() < bytes(count_, planned)) return;
  // Slots first: they need the strictest alignment, which bytes() counts once.
  auto* slots = memory->allocate_array<Slot>(planned);
  uses_ = memory->allocate_array<ValueUse>(count_);
  auto* nodes = memory->allocate_array<uint32_t>(2 * SlotSet::kNodes * planned);
  auto* links = memory->allocate_array<uint32_t>(planned);
  if (slots == nullptr || uses_ == nullptr || nodes == nullptr || links == nullptr) return;
  links_ = links;
  slots_ = {slots, planned};
  start();
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    uses_[slots_[i].value].slot = i;
    links[i] = SlotSet::kNone;
  }
  live_ = SlotSet(slots_, nodes);
  owners_ = SlotSet(slots_, nodes + SlotSet::kNodes * slots_.size());
  walk(plan, [&](size_t value, uint32_t flags) { mark(value, flags); });
  follow_slots(plan);
}

template <class F>
void ValueUses::walk(Table plan, F visit) {
  const TableVector values = plan.tables(schema::plan::kValues);
  now_ = 0;
  // Inputs and initial states are written at time 0, outputs are read after the last instruction.
  for (size_t i = 0; i < count_; ++i) {
    if (has_initial_state(values[i])) visit(i, uint32_t{kOtherUse});
  }
  for (const int32_t index : plan.vector<int32_t>(schema::plan::kInputs))
    visit(static_cast<size_t>(index), uint32_t{kOtherUse});
  const TableVector chains = plan.tables(schema::plan::kChains);
  for (size_t c = 0; c < chains.size(); ++c) {
    const TableVector instructions = chains[c].tables(schema::chain::kInstructions);
    for (size_t i = 0; i < instructions.size(); ++i) {
      ++now_;
      visit_uses(instructions[i], visit);
    }
  }
  now_ = kEnd;
  for (const int32_t index : plan.vector<int32_t>(schema::plan::kOutputs))
    visit(static_cast<size_t>(index), uint32_t{kOtherUse});
}

void ValueUses::start() {
  size_t count = 0;
  for (size_t i = 0; i < count_; ++i) {
    uses_[i] = {kEnd, 0, 0, 0};
    const EValue value = values_.make(i);
    if (!value.is_tensor()) continue;
    const Tensor tensor = value.to_tensor();
    const auto begin = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
    const size_t nbytes = tensor.nbytes();
    if (tensor.impl()->storage() != Storage::Planned || nbytes == 0) continue;
    RL_DCHECK(count < slots_.size());
    uses_[i].flags = kPlanned;
    slots_[count++] = {begin, begin + nbytes, static_cast<uint32_t>(i)};
  }
  // Tensors without bytes have no range, so there may be fewer ranges than planned tensors.
  slots_ = {slots_.data(), count};
  sort(slots_);
}

bool ValueUses::changes(size_t value) const {
  bool found = false;
  for_each_named(values_, value,
                 [&](size_t named) { found = found || (uses_[named].flags & kChanges) != 0; });
  return found;
}

// A value that is read before it is written, or written twice, has different contents over time: only the
// first write sets kStarts, a later one counts as another use.
void ValueUses::mark(size_t value, uint32_t flags) {
  for_each_named(values_, value, [&](size_t named) {
    ValueUse& use = uses_[named];
    const bool is_first = use.first == kEnd;
    if (is_first) use.first = now_;
    use.last = now_;
    use.flags |= flags;
    if ((flags & kWritten) != 0) use.flags |= is_first ? kStarts : kOtherUse;
  });
}

template <class F>
void ValueUses::visit_uses(Table instruction, F visit) {
  jumps_ = jumps_ || kind_of(instruction) == InstructionKind::JumpFalseCall;
  for_each_use(instruction, kernels_, [&](size_t value, ValueAccess access) {
    switch (access) {
      case ValueAccess::Read:
        return visit(value, uint32_t{kRead});
      case ValueAccess::Shown:
        return visit(value, uint32_t{kRead | kOtherUse});
      case ValueAccess::Written:
        return visit(value, uint32_t{kWritten});
      case ValueAccess::Replaced:
        return visit(value, uint32_t{kOtherUse | kChanges});
      case ValueAccess::Any:
        return visit(value, uint32_t{kOtherUse});
    }
  });
}

// A tensor counts as written once if no other value is live in its memory when it is written, and if its and
// its aliases' last uses precede the next write to that memory.
void ValueUses::follow_slots(Table plan) {
  for (const Slot& slot : slots_) {
    // With jumps, program order does not tell which value is live where two paths join: treat the value as
    // live from the start.
    const ValueUse& use = uses_[slot.value];
    if (jumps_ && (use.flags & kStarts) == 0 && use.last != 0) live_.insert(use.slot);
  }
  // Only first uses matter in this pass; begin() ignores the others.
  walk(plan,
       [&](size_t value, uint32_t) { for_each_named(values_, value, [&](size_t named) { begin(named); }); });
  // Owners that are left when the program ends.
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (owners_.has(slot)) end_owner(slot);
  }
}

void ValueUses::begin(size_t value) {
  ValueUse& use = uses_[value];
  if ((use.flags & (kPlanned | kSeen)) != kPlanned) return;
  use.flags |= kSeen;
  if ((use.flags & kStarts) != 0) {
    begin_owner(use.slot);
  } else {
    // A value whose first use reads it shows memory that another value owns, if any.
    begin_view(use.slot);
  }
  live_.insert(use.slot);
}

void ValueUses::begin_owner(uint32_t slot) {
  const Slot& own = slots_[slot];
  // Values that are no longer live leave the set here, once each. A last read by this very call is ignored:
  // unless the value is constant, the call is not folded anyway.
  uint32_t other = live_.find(own);
  while (other != SlotSet::kNone && uses_[slots_[other].value].last <= now_) {
    live_.erase(other);
    other = live_.find(own);
  }
  // The write ends all earlier results in this memory.
  for (uint32_t owner = 0; (owner = owners_.find(own)) != SlotSet::kNone;) end_owner(owner);
  const uint32_t flags = uses_[own.value].flags & ~uint32_t{kRead | kSeen};
  if (other == SlotSet::kNone && flags == (kWritten | kStarts | kPlanned)) owners_.insert(slot);
}

void ValueUses::begin_view(uint32_t slot) {
  const Slot& own = slots_[slot];
  // An alias that is only read and lies inside its owner keeps the owner; any other use of the bytes
  // disqualifies it.
  const bool is_only_read = (uses_[own.value].flags & ~uint32_t{kSeen}) == (kRead | kPlanned);
  for (uint32_t owner = 0; (owner = owners_.find(own)) != SlotSet::kNone;) {
    if (is_only_read && slots_[owner].contains(own)) {
      links_[slot] = links_[owner];
      links_[owner] = slot;
      return;
    }
    owners_.erase(owner);
  }
}

void ValueUses::end_owner(uint32_t slot) {
  owners_.erase(slot);
  ValueUse& use = uses_[slots_[slot].value];
  // first < now_: two arguments that one call writes in the same memory own nothing.
  bool is_over = use.first < now_ && use.last <= now_;
  for (uint32_t view = links_[slot]; view != SlotSet::kNone; view = links_[view])
    is_over = is_over && uses_[slots_[view].value].last <= now_;
  if (is_over) use.flags |= kOnce;
}

}  // namespace rushlight
