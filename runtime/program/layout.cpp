// SPDX-License-Identifier: BSD-3-Clause
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
  return static_cast<ValueKind>(value.scalar<uint8_t>(schema::evalue::kKind));
}

bool is_number(ValueKind kind) {
  return kind == ValueKind::Int || kind == ValueKind::Bool || kind == ValueKind::Double;
}

class PlanChecker {
 public:
  PlanChecker(Table plan, PlanCounts* counts)
      : values_(plan.tables(schema::plan::kValues)), plan_(plan), counts_(counts) {}

  Error run() {
    counts_->values = values_.size();
    counts_->operators = plan_.tables(schema::plan::kOperators).size();
    const TableVector delegates = plan_.tables(schema::plan::kDelegates);
    counts_->delegates = delegates.size();
    for (size_t i = 0; i < delegates.size(); ++i) {
      counts_->compile_specs += delegates[i].tables(schema::delegate::kCompileSpecs).size();
    }
    for (size_t i = 0; i < values_.size(); ++i) RL_TRY(value(i));
    RL_TRY(indices(plan_.vector<int32_t>(schema::plan::kInputs), "inputs"));
    RL_TRY(indices(plan_.vector<int32_t>(schema::plan::kOutputs), "outputs"));
    const TableVector chains = plan_.tables(schema::plan::kChains);
    RL_CHECK(chains.size() > 0, Error::InvalidProgram, "method: no instructions");
    for (size_t i = 0; i < chains.size(); ++i) RL_TRY(chain(chains[i]));
    return Error::Ok;
  }

 private:
  // A negative index becomes a large one and fails the same comparison.
  Error index(int64_t at, const char* what) const {
    RL_CHECK(static_cast<uint64_t>(at) < values_.size(), Error::InvalidProgram, "%s: value %ld of %lu", what,
             static_cast<long>(at), log_number(values_.size()));
    return Error::Ok;
  }

  Error indices(Span<const int32_t> list, const char* what) const {
    for (const int32_t at : list) RL_TRY(index(at, what));
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

  Error value(size_t at) {
    const Table entry = values_[at];
    const Table content = entry.table(schema::evalue::kValue);
    const ValueKind kind = kind_of(entry);
    RL_CHECK(static_cast<uint8_t>(kind) != 0 && content, Error::InvalidProgram, "value %lu: of no kind",
             log_number(at));
    if (kind == ValueKind::Tensor) return tensor(content);
    if (kind == ValueKind::IntList) {
      const auto items = content.vector<int64_t>(schema::boxed::kItem);
      ++counts_->int_lists;
      counts_->ints += items.size();
      for (const int64_t i : items) RL_TRY(item(i, ValueKind::Int, "integer list"));
    } else if (kind == ValueKind::TensorList) {
      const auto items = content.vector<int32_t>(schema::boxed::kItem);
      ++counts_->tensor_lists;
      counts_->list_tensors += items.size();
      for (const int32_t i : items) RL_TRY(item(i, ValueKind::Tensor, "tensor list"));
    } else if (kind == ValueKind::OptionalTensorList) {
      const auto items = content.vector<int32_t>(schema::boxed::kItem);
      ++counts_->optional_tensor_lists;
      counts_->optional_tensors += items.size();
      for (const int32_t i : items) {
        if (i == -1) continue;
        RL_TRY(index(i, "tensor list"));
        if (kind_of(values_[static_cast<size_t>(i)]) == ValueKind::Null) continue;
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
    ++counts_->tensors;
    if (view.is_external) ++counts_->externals;
    counts_->dims += view.layout.sizes.size();
    if (view.dynamism != TensorShapeDynamism::STATIC) counts_->dynamic_dims += view.layout.sizes.size();
    return Error::Ok;
  }

  Error chain(Table chain) {
    const TableVector instructions = chain.tables(schema::chain::kInstructions);
    for (size_t i = 0; i < instructions.size(); ++i) {
      const Table arguments = instructions[i].table(schema::instruction::kArguments);
      RL_CHECK(arguments, Error::InvalidProgram, "instruction %lu: of no kind", log_number(i));
      const auto kind = instructions[i].scalar<uint8_t>(schema::instruction::kKind);
      const Error error = instruction(static_cast<InstructionKind>(kind), arguments, instructions.size());
      RL_CHECK(error == Error::Ok, error, "instruction %lu: of kind %lu, is damaged", log_number(i),
               log_number(kind));
    }
    return Error::Ok;
  }

  Error instruction(InstructionKind kind, Table arguments, size_t count) {
    switch (kind) {
      case InstructionKind::KernelCall:
      case InstructionKind::DelegateCall: {
        const auto callee = static_cast<uint32_t>(arguments.scalar<int32_t>(schema::kernel_call::kOpIndex));
        const size_t known = kind == InstructionKind::KernelCall
                                 ? counts_->operators
                                 : plan_.tables(schema::plan::kDelegates).size();
        RL_CHECK(callee < known, Error::InvalidProgram, "call: %lu of %lu", log_number(callee),
                 log_number(known));
        const auto list = arguments.vector<int32_t>(schema::kernel_call::kArgs);
        if (list.size() > counts_->max_arguments) counts_->max_arguments = list.size();
        return indices(list, "call");
      }
      case InstructionKind::MoveCall: {
        const auto from = arguments.scalar<int32_t>(schema::move_call::kFrom);
        const auto to = arguments.scalar<int32_t>(schema::move_call::kTo);
        RL_TRY(index(from, "move"));
        // A value keeps its kind: arguments are checked once, at load.
        return item(to, kind_of(values_[static_cast<size_t>(from)]), "move");
      }
      case InstructionKind::JumpFalseCall: {
        const auto condition = arguments.scalar<int32_t>(schema::jump_false_call::kCondValueIndex);
        RL_TRY(index(condition, "jump"));
        const ValueKind condition_kind = kind_of(values_[static_cast<size_t>(condition)]);
        RL_CHECK(condition_kind == ValueKind::Tensor || is_number(condition_kind), Error::InvalidProgram,
                 "jump: its condition is of kind %lu", log_number(static_cast<uint8_t>(condition_kind)));
        const auto destination = arguments.scalar<int32_t>(schema::jump_false_call::kDestinationInstruction);
        RL_CHECK(static_cast<uint32_t>(destination) <= count, Error::InvalidProgram,
                 "jump: to instruction %ld of %lu", static_cast<long>(destination), log_number(count));
        return Error::Ok;
      }
      case InstructionKind::FreeCall:
        return item(arguments.scalar<int32_t>(schema::free_call::kValueIndex), ValueKind::Tensor, "free");
    }
    return Error::InvalidProgram;
  }

  TableVector values_;
  Table plan_;
  PlanCounts* counts_;
};

constexpr uint8_t kCpu = 0;

}  // namespace

Error read_tensor(Table tensor, TensorView* view) {
  const auto dynamism = tensor.scalar<uint8_t>(schema::tensor::kShapeDynamism);
  RL_CHECK(dynamism <= static_cast<uint8_t>(TensorShapeDynamism::DYNAMIC_UNBOUND), Error::InvalidProgram,
           "tensor: unknown shape dynamism %lu", log_number(dynamism));
  RL_CHECK(tensor.scalar<uint8_t>(schema::tensor::kLayout) == 0, Error::NotSupported, "tensor: not strided");
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
  RL_CHECK(device == kCpu, Error::NotSupported,
           "tensor %s: lies on device type %lu, this runtime has the CPU (0) only",
           extra.string(schema::extra::kFullyQualifiedName), log_number(device));
  RL_CHECK(tensor.scalar<int32_t>(schema::tensor::kStorageOffset) == 0, Error::NotSupported,
           "tensor: a storage offset of %ld elements",
           static_cast<long>(tensor.scalar<int32_t>(schema::tensor::kStorageOffset)));
  *view = {*layout, static_cast<TensorShapeDynamism>(dynamism),
           location == static_cast<uint8_t>(schema::TensorDataLocation::External)};
  return Error::Ok;
}

ArenaLayout lay_out_arena(const PlanCounts& counts, size_t pointer) {
  // In the order of ArenaPart. The counts come from a file of at most 2 GiB, whose elements take at
  // least 4 bytes each, so that sums stay far below 64 bits.
  const size_t elements[kArenaParts] = {
      counts.values,
      counts.tensors,
      counts.int_lists,
      counts.ints,
      counts.ints,
      counts.tensor_lists,
      counts.list_tensors,
      counts.list_tensors,
      counts.optional_tensor_lists,
      counts.optional_tensors,
      counts.optional_tensors,
      counts.operators,
      counts.delegates,
      counts.compile_specs,
      counts.externals,
      counts.max_arguments,
      counts.dims,
      counts.dynamic_dims,
  };
  ArenaLayout layout;
  uint64_t used = 0;
  for (size_t i = 0; i < kArenaParts; ++i) {
    const auto part = static_cast<ArenaPart>(i);
    const size_t size = arena_element_size(part, pointer);
    const bool wide = part == ArenaPart::Values || part == ArenaPart::IntListItems;
    const uint64_t alignment = wide ? 8 : (size < pointer ? size : pointer);
    used = (used + alignment - 1) & ~(alignment - 1);
    layout.offset[i] = used;
    used += static_cast<uint64_t>(elements[i]) * size;
  }
  layout.size = used;
  return layout;
}

Error count_plan(Table plan, PlanCounts* counts) { return PlanChecker(plan, counts).run(); }

}  // namespace rushlight
