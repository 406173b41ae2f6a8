// SPDX-License-Identifier: BSD-3-Clause
// One pass over the values and one over the instructions; linear in the size of the file, because the items
// of lists in calls are bounded. Everything that the executor later reads without checks (indices, kinds,
// jump targets, booleans) is checked here, in the order of use: values, then inputs and outputs, then
// instructions.
#include "runtime/program/layout.h"

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;
using schema::ValueKind;

ValueKind kind_of(Table value) {
  return static_cast<ValueKind>(value.scalar<uint8_t>(schema::evalue::kValType));
}

bool is_number(ValueKind kind) {
  return kind == ValueKind::Int || kind == ValueKind::Bool || kind == ValueKind::Double;
}

// Limit for the total of list items that a method's calls name. No real model comes near it; a hostile file
// could otherwise keep the loader busy.
constexpr size_t kMaxListItems = size_t{1} << 26;

bool is_list_of_values(ValueKind kind) {
  return kind == ValueKind::IntList || kind == ValueKind::TensorList || kind == ValueKind::OptionalTensorList;
}

class PlanChecker {
 public:
  PlanChecker(Table plan, PlanCounts* counts)
      : values_(plan.tables(schema::plan::kValues)), plan_(plan), counts_(counts) {}

  Error run() {
    PlanCounts& counts = *counts_;
    counts[ArenaPart::Values] = values_.size();
    // One TensorRank per 32 values (method_values.h).
    counts[ArenaPart::TensorRanks] = (values_.size() + 31) / 32;
    counts[ArenaPart::Kernels] = plan_.tables(schema::plan::kOperators).size();
    const TableVector delegates = plan_.tables(schema::plan::kDelegates);
    counts[ArenaPart::Delegates] = delegates.size();
    for (size_t i = 0; i < delegates.size(); ++i) {
      counts[ArenaPart::CompileSpecs] += delegates[i].tables(schema::delegate::kCompileSpecs).size();
    }
    for (size_t i = 0; i < values_.size(); ++i) RL_TRY(value(i));
    const auto inputs = plan_.vector<int32_t>(schema::plan::kInputs);
    const auto outputs = plan_.vector<int32_t>(schema::plan::kOutputs);
    RL_TRY(ends(inputs, "inputs"));
    RL_TRY(ends(outputs, "outputs"));
    const TableVector chains = plan_.tables(schema::plan::kChains);
    RL_CHECK(chains.size() > 0, Error::InvalidProgram, "method: no instructions");
    for (size_t i = 0; i < chains.size(); ++i) RL_TRY(chain(chains[i]));
    counts[ArenaPart::Ends] = inputs.size() + outputs.size();
    // Made and Arguments both hold the longest argument list: values, and pointers to them.
    counts[ArenaPart::Arguments] = counts[ArenaPart::Made];
    return Error::Ok;
  }

 private:
  // A negative index wraps to a large one and fails the same comparison.
  Error index(int64_t at, const char* what) const {
    RL_CHECK(static_cast<uint64_t>(at) < values_.size(), Error::InvalidProgram, "%s: value %ld of %lu", what,
             static_cast<long>(at), log_number(values_.size()));
    return Error::Ok;
  }

  Error indices(Span<const int32_t> list, const char* what) const {
    for (const int32_t at : list) RL_TRY(index(at, what));
    return Error::Ok;
  }

  // Inputs and outputs are no lists of values: exporters flatten them. Hence they can be made without memory
  // for list items.
  Error ends(Span<const int32_t> list, const char* what) const {
    RL_TRY(indices(list, what));
    for (const int32_t at : list) {
      RL_CHECK(!is_list_of_values(kind_of(values_[at])), Error::NotSupported, "%s: value %ld is a list", what,
               static_cast<long>(at));
    }
    return Error::Ok;
  }

  Error item(int64_t at, ValueKind expected, const char* what) const {
    RL_TRY(index(at, what));
    RL_CHECK(kind_of(values_[static_cast<size_t>(at)]) == expected, Error::InvalidProgram,
             "%s: value %ld is of kind %lu, expected %lu", what, static_cast<long>(at),
             log_number(static_cast<uint8_t>(kind_of(values_[static_cast<size_t>(at)]))),
             log_number(static_cast<uint8_t>(expected)));
    return Error::Ok;
  }

  [[nodiscard]] bool is_absent(int32_t at) const {
    return at == -1 ||
           (static_cast<uint32_t>(at) < values_.size() && kind_of(values_[at]) == ValueKind::Null);
  }

  Error value(size_t at) {
    const Table entry = values_[at];
    const Table content = entry.table(schema::evalue::kVal);
    const ValueKind kind = kind_of(entry);
    RL_CHECK(static_cast<uint8_t>(kind) != 0 && content, Error::InvalidProgram, "value %lu: has no kind",
             log_number(at));
    if (kind == ValueKind::Tensor) return tensor(content);
    // IntList names values, not numbers: its items may be computed at run time.
    if (kind == ValueKind::IntList) {
      for (const int64_t i : content.vector<int64_t>(schema::boxed::kItem))
        RL_TRY(item(i, ValueKind::Int, "integer list"));
    } else if (is_list_of_values(kind)) {
      for (const int32_t i : content.vector<int32_t>(schema::boxed::kItem)) {
        if (kind == ValueKind::OptionalTensorList && is_absent(i)) continue;
        RL_TRY(item(i, ValueKind::Tensor, "tensor list"));
      }
    } else if (kind == ValueKind::BoolList) {
      for (const uint8_t flag : content.vector<uint8_t>(schema::boxed::kItem)) {
        RL_CHECK(flag <= 1, Error::InvalidProgram, "value %lu: a boolean of %lu", log_number(at),
                 log_number(flag));
      }
    }
    return Error::Ok;
  }

  Error tensor(Table content) {
    TensorView view;
    RL_TRY(read_tensor(content, &view));
    PlanCounts& counts = *counts_;
    const size_t dims = view.layout.sizes.size();
    ++counts[ArenaPart::Tensors];
    if (view.is_external) ++counts[ArenaPart::ExternalData];
    counts[ArenaPart::Strides] += dims;
    // Static shapes stay in the file; strides of every tensor are computed.
    if (view.dynamism != TensorShapeDynamism::STATIC) counts[ArenaPart::Sizes] += dims;
    return Error::Ok;
  }

  Error chain(Table chain) {
    const TableVector instructions = chain.tables(schema::chain::kInstructions);
    for (size_t i = 0; i < instructions.size(); ++i) {
      const Table arguments = instructions[i].table(schema::instruction::kInstrArgs);
      RL_CHECK(arguments, Error::InvalidProgram, "instruction %lu: has no kind", log_number(i));
      const auto kind = instructions[i].scalar<uint8_t>(schema::instruction::kInstrArgsType);
      const Error error = instruction(static_cast<InstructionKind>(kind), arguments, i, instructions.size());
      RL_CHECK(error == Error::Ok, error, "instruction %lu: damaged, kind %lu", log_number(i),
               log_number(kind));
    }
    return Error::Ok;
  }

  Error instruction(InstructionKind kind, Table arguments, size_t at, size_t count) {
    switch (kind) {
      case InstructionKind::KernelCall:
      case InstructionKind::DelegateCall: {
        // Kernel and delegate calls have the same slots.
        const auto callee = static_cast<uint32_t>(arguments.scalar<int32_t>(schema::kernel_call::kOpIndex));
        const size_t known = kind == InstructionKind::KernelCall
                                 ? (*counts_)[ArenaPart::Kernels]
                                 : plan_.tables(schema::plan::kDelegates).size();
        RL_CHECK(callee < known, Error::InvalidProgram, "call: %lu of %lu", log_number(callee),
                 log_number(known));
        const auto list = arguments.vector<int32_t>(schema::kernel_call::kArgs);
        raise_to(list.size(), ArenaPart::Made);
        RL_TRY(indices(list, "call"));
        // The result is the last argument.
        const bool gives_number = list.size() > 0 && is_number(kind_of(values_[list[list.size() - 1]]));
        if (kind == InstructionKind::DelegateCall || gives_number) counts_->plain = false;
        return count_lists(list);
      }
      case InstructionKind::MoveCall: {
        const auto from = arguments.scalar<int32_t>(schema::move_call::kMoveFrom);
        const auto to = arguments.scalar<int32_t>(schema::move_call::kMoveTo);
        RL_TRY(index(from, "move"));
        counts_->plain = false;
        const ValueKind kind = kind_of(values_[static_cast<size_t>(from)]);
        // The arena has memory for list items of calls only.
        RL_CHECK(!is_list_of_values(kind), Error::NotSupported, "move: value %ld is a list",
                 static_cast<long>(from));
        // A move must keep the kind of its target, because arguments are checked once, at load.
        return item(to, kind, "move");
      }
      case InstructionKind::JumpFalseCall: {
        const auto condition = arguments.scalar<int32_t>(schema::jump_false_call::kCondValueIndex);
        RL_TRY(index(condition, "jump"));
        const ValueKind condition_kind = kind_of(values_[static_cast<size_t>(condition)]);
        RL_CHECK(condition_kind == ValueKind::Tensor || is_number(condition_kind), Error::InvalidProgram,
                 "jump: its condition is of kind %lu", log_number(static_cast<uint8_t>(condition_kind)));
        const auto destination = arguments.scalar<int32_t>(schema::jump_false_call::kDestinationInstruction);
        // count itself is valid: it ends the chain.
        RL_CHECK(static_cast<uint32_t>(destination) <= count, Error::InvalidProgram,
                 "jump: to instruction %ld of %lu", static_cast<long>(destination), log_number(count));
        RL_CHECK(static_cast<uint32_t>(destination) != at, Error::InvalidProgram, "jump: to itself, endless");
        counts_->plain = false;
        return Error::Ok;
      }
      case InstructionKind::FreeCall:
        return item(arguments.scalar<int32_t>(schema::free_call::kValueIndex), ValueKind::Tensor, "free");
    }
    return Error::InvalidProgram;
  }

  Error count_lists(Span<const int32_t> arguments) {
    constexpr auto kFirst = static_cast<size_t>(ArenaPart::IntLists);
    size_t call[6] = {};  // counts and items of the three kinds of lists
    for (const int32_t at : arguments) {
      const Table entry = values_[at];
      const ValueKind kind = kind_of(entry);
      if (!is_list_of_values(kind)) continue;
      // Lists of all kinds begin with their length.
      const auto length = entry.table(schema::evalue::kVal).vector<int32_t>(schema::boxed::kItem).size();
      list_items_ += length;
      RL_CHECK(list_items_ <= kMaxListItems, Error::InvalidProgram, "calls: their lists are too long");
      size_t* counted = call + (kind == ValueKind::IntList ? 0 : kind == ValueKind::TensorList ? 2 : 4);
      ++counted[0];
      counted[1] += length;
    }
    // The six parts follow each other in ArenaPart, in this order. The maximum over the calls counts: each
    // call reuses the memory.
    for (size_t i = 0; i < 6; ++i) raise_to(call[i], static_cast<ArenaPart>(kFirst + i));
    return Error::Ok;
  }

  void raise_to(size_t count, ArenaPart part) {
    if (count > (*counts_)[part]) (*counts_)[part] = count;
  }

  TableVector values_;
  Table plan_;
  PlanCounts* counts_;
  uint64_t list_items_ = 0;
};

constexpr uint8_t kCpu = 0;

}  // namespace

Error read_tensor(Table tensor, TensorView* view) {
  const auto dynamism = tensor.scalar<uint8_t>(schema::tensor::kShapeDynamism);
  RL_CHECK(dynamism <= static_cast<uint8_t>(TensorShapeDynamism::DYNAMIC_UNBOUND), Error::InvalidProgram,
           "tensor: unknown shape dynamism %lu", log_number(dynamism));
  RL_CHECK(tensor.scalar<uint8_t>(schema::tensor::kLayout) == 0, Error::NotSupported,
           "tensor: expected strided");
  const auto sizes = tensor.vector<SizesType>(schema::tensor::kSizes);
  const auto order = tensor.vector<DimOrderType>(schema::tensor::kDimOrder);
  RL_CHECK(order.size() == sizes.size(), Error::InvalidProgram,
           "tensor: %lu sizes, %lu dimensions in its order", log_number(sizes.size()),
           log_number(order.size()));
  const auto layout =
      make_tensor_layout(tensor.scalar<int8_t>(schema::tensor::kScalarType), sizes, order, "tensor");
  if (!layout.ok()) return Error::InvalidProgram;
  const Table extra = tensor.table(schema::tensor::kExtraTensorInfo);
  const auto location = extra.scalar<uint8_t>(schema::extra::kLocation);
  RL_CHECK(location <= static_cast<uint8_t>(schema::TensorDataLocation::External), Error::InvalidProgram,
           "tensor %s: unknown data location %lu", extra.string(schema::extra::kFullyQualifiedName),
           log_number(location));
  const auto device = extra.scalar<uint8_t>(schema::extra::kDeviceType);
  RL_CHECK(device == kCpu, Error::NotSupported, "tensor %s: on device type %lu, expected the CPU (0)",
           extra.string(schema::extra::kFullyQualifiedName), log_number(device));
  RL_CHECK(tensor.scalar<int32_t>(schema::tensor::kStorageOffset) == 0, Error::NotSupported,
           "tensor: a storage offset of %ld elements",
           static_cast<long>(tensor.scalar<int32_t>(schema::tensor::kStorageOffset)));
  *view = {*layout, static_cast<TensorShapeDynamism>(dynamism),
           location == static_cast<uint8_t>(schema::TensorDataLocation::External)};
  return Error::Ok;
}

ArenaLayout lay_out_arena(const PlanCounts& counts, size_t pointer) {
  // The sums cannot overflow 64 bits: a file has at most 2 GiB, elements take at least 4 bytes each, and the
  // items of a call's lists are bounded.
  const bool compact = counts.plain && is_compact(pointer);
  const ArenaPart absent = compact ? kPartOfKept : kPartOfCompact;
  ArenaLayout layout;
  uint64_t used = 0;
  for (size_t i = 0; i < kArenaParts; ++i) {
    const auto part = static_cast<ArenaPart>(i);
    const uint64_t alignment = arena_element_alignment(part, pointer);
    // Alignments are powers of two.
    used = (used + alignment - 1) & ~(alignment - 1);
    layout.offset[i] = used;
    if (part != absent) used += static_cast<uint64_t>(counts.of[i]) * arena_element_size(part, pointer);
  }
  layout.size = used;
  return layout;
}

Error count_plan(Table plan, PlanCounts* counts) { return PlanChecker(plan, counts).run(); }

}  // namespace rushlight
