// SPDX-License-Identifier: BSD-3-Clause
// Execution of a loaded method: binds inputs, interprets the instructions in order, returns outputs. The loop
// reads instructions from the program file in place; everything they refer to was checked at load.
#include "runtime/executor/method.h"

#include "runtime/base/log.h"
#include "runtime/executor/arguments.h"
#include "runtime/executor/method_calls.h"
#include "runtime/executor/value_uses.h"
#include "runtime/program/schema.h"
#include "runtime/tensor/binding.h"

namespace rushlight {

namespace {

constexpr bool kLimits = RUSHLIGHT_LIMITS != 0;

using flatbuffer::FieldPair;
using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;

// Index of the operator or delegate that a call names.
size_t callee(const FieldPair& call) {
  return call.first() == nullptr ? 0 : static_cast<size_t>(flatbuffer::read<int32_t>(call.first()));
}

// Event names are ExecuTorch's, except for folded calls, which it does not have.
const char* event_name(InstructionKind kind, bool is_folded) {
  switch (kind) {
    case InstructionKind::KernelCall:
      return is_folded ? "FOLDED_CALL" : "OPERATOR_CALL";
    case InstructionKind::DelegateCall:
      return "DELEGATE_CALL";
    case InstructionKind::MoveCall:
      return "MOVE_CALL";
    case InstructionKind::JumpFalseCall:
      return "JF_CALL";
    case InstructionKind::FreeCall:
      return "FREE_CALL";
  }
  return "";
}

}  // namespace

Error Method::set_input(size_t index, const EValue& value) {
  const auto inputs = plan_.vector<int32_t>(schema::plan::kInputs);
  RL_CHECK(index < inputs.size(), Error::InvalidArgument, "input %lu: the method has %lu", log_number(index),
           log_number(inputs.size()));
  return set_value(index, input_value(index), value);
}

Error Method::set_output_buffer(size_t index, Span<uint8_t> memory) {
  const auto outputs = plan_.vector<int32_t>(schema::plan::kOutputs);
  RL_CHECK(index < outputs.size(), Error::InvalidArgument, "output %lu: the method has %lu",
           log_number(index), log_number(outputs.size()));
  return set_output_memory(index, output_value(index), memory);
}

const EValue& Method::input(size_t index) const { return input_value(index); }
const EValue& Method::output(size_t index) const { return output_value(index); }

EValue& Method::input_value(size_t index) const {
  return is_compact()
             ? ends_[index]
             : frame_.values.value_tables().kept[plan_.vector<int32_t>(schema::plan::kInputs)[index]];
}

EValue& Method::output_value(size_t index) const {
  return is_compact()
             ? ends_[plan_.vector<int32_t>(schema::plan::kInputs).size() + index]
             : frame_.values.value_tables().kept[plan_.vector<int32_t>(schema::plan::kOutputs)[index]];
}

Error Method::check_inputs() const {
  const size_t inputs = plan_.vector<int32_t>(schema::plan::kInputs).size();
  for (size_t i = 0; i < inputs; ++i) {
    const EValue& value = input_value(i);
    RL_CHECK(!value.is_tensor() || has_memory(*value.payload.as_tensor.impl()), Error::InvalidState,
             "input %lu: was not set", log_number(i));
  }
  return Error::Ok;
}

// Removes the memory of aliases, because their base may no longer exist.
// A view is bound again each time its call executes; a method that starts over must not read the last one's.
void Method::forget_views() {
  TensorImpl* tensors = frame_.values.value_tables().tensors;
  for (TensorImpl* tensor = tensors; tensor != tensors + num_tensors_; ++tensor) {
    const Storage storage = tensor->storage();
    if (storage == Storage::View || storage == Storage::ConstantView)
      tensor->set_data(nullptr, Storage::None);
  }
}

Error Method::execute() {
  trace_block(tracer(), "Execute");
  if (kLimits) failed_call_ = {};
  RL_TRY(execute_chains());
  // Logged once at the end, from values as the caller sees them.
  trace_outputs();
  return Error::Ok;
}

void Method::trace_outputs() const {
  if (tracer() == nullptr) return;
  for (size_t i = 0; i < meta().num_outputs(); ++i)
    trace_value(tracer(), output(i), LoggedValue::ProgramOutput);
}

Error Method::execute_chains() {
  const ProfileScope traced(tracer(), "Method::execute");
  if (memory_changes_) forget_views();
  RL_TRY(check_inputs());
  Budget budget = {instruction_budget_ == 0 ? UINT64_MAX : instruction_budget_, 0};
  const TableVector chains = plan_.tables(schema::plan::kChains);
  for (size_t i = 0; i < chains.size(); ++i) RL_TRY(execute_chain(i, chains[i], &budget));
  return Error::Ok;
}

// Grants the instructions until the next poll of the interrupt. Without an interrupt the slice is the whole
// budget. count_instruction() has decremented `slice` below 0 already, so it is set anew, less the
// instruction that is about to execute.
Error Method::begin_slice(Budget* budget, size_t at) {
  RL_CHECK(budget->left > 0, Error::OutOfResources, "instruction %lu: the budget of %lu is exhausted",
           log_number(at), log_number(instruction_budget_));
  uint64_t slice = budget->left;
  if (kLimits && interrupt_ != nullptr) {
    RL_TRY(interrupt_->poll(&slice));
    if (slice > budget->left) slice = budget->left;
  }
  budget->left -= slice;
  budget->slice = slice - 1;
  return Error::Ok;
}

Error Method::execute_chain(size_t index, Table chain, Budget* budget) {
  const TableVector instructions = chain.tables(schema::chain::kInstructions);
  // prepared_ and windows_ count instructions through all chains, `at` within one.
  const bool counts = prepared_ != nullptr || (kLimits && windows_ != nullptr);
  const size_t first = !counts || index == 0 ? 0 : first_instruction(index);
  // Caches the offsets of both fields by vtable, which most instructions of a file share.
  FieldPair instruction(schema::instruction::kInstrArgsType, schema::instruction::kInstrArgs);
  FieldPair call(schema::kernel_call::kOpIndex, schema::kernel_call::kArgs);
  static_assert(schema::kernel_call::kArgs == static_cast<unsigned>(schema::delegate_call::kArgs));
  for (size_t at = 0; at < instructions.size();) {
    if (const size_t length = window_at(first + at); length != 0) {
      RL_TRY(execute_window(first + at, length, at, budget));
      at += length;
      continue;
    }
    RL_TRY(count_instruction(budget, at));
    instruction.find(instructions[at++]);
    // Both fields are present: the loader checked them.
    const auto kind = static_cast<InstructionKind>(*instruction.first());
    const Table arguments = Table::referred_by(instruction.second());
    const bool folded = is_folded(first + at - 1);
    // The constant result is in memory already. With a tracer the loop goes on, so that the trace lists the
    // call.
    if (folded && tracer() == nullptr) continue;
    const InstructionScope traced(tracer(), index, at - 1, event_name(kind, folded));
    switch (kind) {
      case InstructionKind::KernelCall:
      case InstructionKind::DelegateCall: {
        call.find(arguments);
        const Error error = kind == InstructionKind::KernelCall ? call_kernel(frame_, call, first + at - 1)
                                                                : call_delegate(call);
        if (error != Error::Ok) {
          return report(error, at - 1,
                        kind == InstructionKind::KernelCall ? kernels_[callee(call)] : nullptr);
        }
        break;
      }
      // Moves and jumps occur in methods with kept values only (layout.cpp), so `kept` is not null here.
      case InstructionKind::MoveCall:
        frame_.values.value_tables().kept[arguments.scalar<int32_t>(schema::move_call::kMoveTo)] =
            frame_.values.value_tables().kept[arguments.scalar<int32_t>(schema::move_call::kMoveFrom)];
        break;
      case InstructionKind::JumpFalseCall: {
        const EValue& condition =
            frame_.values.value_tables()
                .kept[arguments.scalar<int32_t>(schema::jump_false_call::kCondValueIndex)];
        RL_CHECK(!condition.is_tensor() || is_one_bool(*condition.payload.as_tensor.impl()),
                 Error::InvalidProgram, "instruction %lu: the condition is not one bool", log_number(at - 1));
        // Jumps to any instruction of the chain, also backwards: only the budget and the interrupt end a
        // loop.
        if (is_false(condition)) {
          at = static_cast<size_t>(
              arguments.scalar<int32_t>(schema::jump_false_call::kDestinationInstruction));
        }
        break;
      }
      case InstructionKind::FreeCall:
        break;  // memory is planned
    }
  }
  return Error::Ok;
}

Error Method::report(Error error, size_t at, const KernelEntry* kernel) {
  RL_RECORD_INDEX(at);
  if (kLimits) failed_call_ = {at, kernel};
  RL_CHECK(false, error, "instruction %lu failed", log_number(at));
}

size_t Method::window_at(size_t number) const {
  // A trace lists the calls in the program's order.
  return kLimits && windows_ != nullptr && tracer() == nullptr ? windows_[number] : 0;
}

// Counts the window's instructions first: it has no jumps, so that each executes once.
Error Method::execute_window(size_t number, size_t length, size_t at, Budget* budget) {
  for (size_t i = 0; i < length; ++i) RL_TRY(count_instruction(budget, at + i));
  return window_executor_->execute_window(number);
}

// Index of a chain's first instruction, counted through all chains; for `chain` = number of chains, the
// total.
size_t Method::first_instruction(size_t chain) const {
  const TableVector chains = plan_.tables(schema::plan::kChains);
  size_t count = 0;
  for (size_t c = 0; c < chain; ++c) count += chains[c].tables(schema::chain::kInstructions).size();
  return count;
}

size_t Method::num_instructions() const {
  return first_instruction(plan_.tables(schema::plan::kChains).size());
}

size_t Method::num_values() const { return plan_.tables(schema::plan::kValues).size(); }

size_t Method::preparing_bytes() const { return ValueUses::bytes(num_values(), num_planned()); }

size_t Method::num_planned() const {
  size_t count = 0;
  const TensorImpl* tensors = frame_.values.value_tables().tensors;
  for (size_t i = 0; i < num_tensors_; ++i) count += tensors[i].storage() == Storage::Planned ? 1 : 0;
  return count;
}

bool Method::is_folded(size_t number) const {
  return RUSHLIGHT_PREPARE_KERNELS != 0 && prepared_ != nullptr && prepared_[number] == prepared_;
}

Span<EValue* const> Method::gather(CallFrame& frame, const FieldPair& call) {
  const Span<const int32_t> indices = flatbuffer::vector_referred_by<int32_t>(call.second());
  frame.values.gather(indices, frame.arguments);
  return {frame.arguments, indices.size()};
}

// If memory changes during execution, arguments are checked on each call; otherwise load() checked them once.
Error Method::call_kernel(CallFrame& frame, const FieldPair& call, size_t number) {
  const size_t num_arguments = gather(frame, call).size();
  const KernelEntry& kernel = *kernels_[callee(call)];
  if (memory_changes_ && !is_folded(number)) RL_TRY(check_tensors(kernel, frame.arguments, When::Running));
  const void* prepared = prepared_ == nullptr ? nullptr : prepared_[number];
  KernelContext context(frame.temporary, tracer(), kernel, num_arguments, frame.threads, prepared);
  const OperatorScope traced(tracer(), kernel.name, kernel.signature);
  const Error error = is_folded(number) ? Error::Ok : kernel.call(context, frame.arguments);
  // Scratch lives for one call.
  if (frame.temporary != nullptr) frame.temporary->reset();
  RL_CHECK(error == Error::Ok, error, "operator %s: %s", kernel.name, to_string(error));
  traced.log_outputs(frame.arguments);
  return Error::Ok;
}

Error Method::call_delegate(const FieldPair& call) {
  const size_t index = callee(call);
  BackendExecuteContext context(frame_.temporary, meta().name(), tracer());
  const Span<EValue* const> values = gather(frame_, call);
  const char* id = plan_.tables(schema::plan::kDelegates)[index].string(schema::delegate::kId);
  const Error error = delegate_support_->execute(delegates_.items[index], context, id, values);
  if (frame_.temporary != nullptr) frame_.temporary->reset();
  RL_TRY(error);
  trace_values(tracer(), values);
  return Error::Ok;
}

Method::Method(Method&& other) noexcept
    : Traced(other),
      plan_(other.plan_),
      frame_(other.frame_),
      interrupt_(other.interrupt_),
      prepared_(other.prepared_),
      instruction_budget_(other.instruction_budget_),
      ends_(other.ends_),
      num_tensors_(other.num_tensors_),
      prepare_support_(other.prepare_support_),
      kernels_(other.kernels_),
      delegate_support_(other.delegate_support_),
      delegates_(other.delegates_),
      external_data_(other.external_data_),
      num_external_data_(other.num_external_data_),
      memory_changes_(other.memory_changes_),
      windows_(other.windows_),
      window_executor_(other.window_executor_) {
  // The new method owns delegates and external data; `other` must destroy neither.
  other.delegate_support_ = nullptr;
  other.num_external_data_ = 0;
}

Method::~Method() {
  // Delegates first: they may refer to external data until they are destroyed.
  if (delegate_support_ != nullptr) delegate_support_->destroy(&delegates_);
  for (size_t i = num_external_data_; i-- > 0;) external_data_[i].~FreeableBuffer();
}

bool Method::owns_constants() const {
  for (size_t i = 0; i < num_external_data_; ++i) {
    if (external_data_[i].owns()) return true;
  }
  return false;
}

}  // namespace rushlight
