// SPDX-License-Identifier: BSD-3-Clause
// Logs values of instructions, delegates and methods: the bytes go to the sink, a description of each value
// to the file.
#include <cstring>

#include "runtime/trace/etdump.h"
#include "runtime/trace/etdump_schema.h"

namespace rushlight {

using etdump::Builder;
using etdump::Field;
using etdump::number;
using etdump::number_unless;
using etdump::reference;

namespace {

// The offset of a tensor without bytes.
constexpr int64_t kNoData = -1;

constexpr size_t kBoxBound = Builder::table_bound(1);
constexpr size_t kDebugBound = Builder::table_bound(3)    // the value
                               + 2 * kBoxBound            // a boxed number, and the output flag
                               + Builder::table_bound(5)  // the debug event
                               + Builder::table_bound(1) + sizeof(etdump::Ref);

size_t tensor_bound(const Tensor& tensor) {
  return 2 * Builder::vector_bound(tensor.sizes().size() * sizeof(int64_t)) + Builder::table_bound(4) +
         sizeof(etdump::Ref);
}

size_t bound(Span<const Tensor> tensors) {
  size_t total = kDebugBound + Builder::vector_bound(0) + kBoxBound;
  for (const Tensor& tensor : tensors) total += tensor_bound(tensor);
  return total;
}

}  // namespace

Result<ETDump::Ref> ETDump::tensor(const Tensor& tensor) {
  int64_t offset = kNoData;
  if (tensor.nbytes() > 0 && tensor.const_data_ptr() != nullptr) {
    // The sink returns the offset at which it wrote. Bytes are in the tensor's own memory order; the strides
    // tell which.
    RL_TRY_ASSIGN(const size_t written, sink_->write(tensor.const_data_ptr(), tensor.nbytes()));
    offset = static_cast<int64_t>(written);
  }
  const Ref sizes = builder_.longs(tensor.sizes());
  const Ref strides = builder_.longs(tensor.strides());
  const Field fields[] = {
      number(etdump::tensor::kScalarType, static_cast<uint8_t>(tensor.scalar_type())),
      reference(etdump::tensor::kSizes, sizes),
      reference(etdump::tensor::kStrides, strides),
      number(etdump::tensor::kOffset, offset),
  };
  return builder_.table(fields, 4);
}

Result<ETDump::Ref> ETDump::tensor_list(Span<const Tensor> tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    auto one = tensor(tensors[i]);
    if (!one.ok()) {
      // Leaves the stack as it was, with the references of enclosing objects on top.
      builder_.drop_waiting(i);
      return one.error();
    }
    builder_.wait(*one);
  }
  const Field field = reference(etdump::tensor_list::kTensors, builder_.vector_of_waiting(tensors.size()));
  return builder_.table(&field, 1);
}

// Writes a Value table. `tensors` holds the items of a list, or the single tensor.
Result<ETDump::Ref> ETDump::describe(const EValue& value, Span<const Tensor> tensors, bool is_output) {
  // Slots: the kind, the content, the output flag.
  using etdump::value::Kind;
  Field fields[3];
  Kind kind = Kind::Null;
  switch (value.tag) {
    case Tag::Tensor: {
      RL_TRY_ASSIGN(const Ref described, tensor(tensors[0]));
      kind = Kind::Tensor;
      fields[1] = reference(etdump::value::kTensor, described);
      break;
    }
    case Tag::ListTensor: {
      RL_TRY_ASSIGN(const Ref described, tensor_list(tensors));
      kind = Kind::TensorList;
      fields[1] = reference(etdump::value::kTensorList, described);
      break;
    }
    case Tag::Int: {
      const Field field = number(etdump::boxed_number::kValue, value.payload.as_int);
      kind = Kind::Int;
      fields[1] = reference(etdump::value::kInt, builder_.table(&field, 1));
      break;
    }
    // Doubles are written as their bits: Builder has integer fields only.
    case Tag::Double: {
      uint64_t bits;
      std::memcpy(&bits, &value.payload.as_double, sizeof bits);
      const Field field = number(etdump::boxed_number::kValue, bits);
      kind = Kind::Double;
      fields[1] = reference(etdump::value::kDouble, builder_.table(&field, 1));
      break;
    }
    case Tag::Bool: {
      const Field field = number(etdump::boxed_number::kValue, static_cast<uint8_t>(value.payload.as_bool));
      kind = Kind::Bool;
      fields[1] = reference(etdump::value::kBool, builder_.table(&field, 1));
      break;
    }
    default:
      return Error::NotSupported;
  }
  // The flag is a boxed bool in the schema, so that absence differs from false.
  const Field yes = number(etdump::boxed_number::kValue, uint8_t{1});
  fields[0] = number(etdump::value::kKind, static_cast<uint8_t>(kind));
  fields[2] = reference(etdump::value::kOutput, is_output ? builder_.table(&yes, 1) : 0);
  return builder_.table(fields, 3);
}

// Writes the value first and the event last, so that a failure leaves an unreferenced table but a valid file.
Result<bool> ETDump::log(const DelegateEventId* id, const EValue& value, Span<const Tensor> tensors,
                         bool is_output) {
  // Without a sink, values are not wanted, and nothing counts as lost.
  if (sink_ == nullptr) return false;
  const char* text = id != nullptr ? id->name : nullptr;
  const size_t name_bound = text == nullptr ? 0 : Builder::string_bound(std::strlen(text));
  if (!ready_for(bound(tensors) + name_bound)) {
    ++lost_values_;
    return Error::OutOfResources;
  }
  // Lost also if the sink is full, or the value has a kind that the format cannot hold.
  auto described = describe(value, tensors, is_output);
  if (!described.ok()) {
    ++lost_values_;
    return described.error();
  }
  const Field fields[] = {
      number(etdump::debug::kChainIndex, int64_t{chain_id()}),
      number(etdump::debug::kInstructionId, debug_handle()),
      reference(etdump::debug::kEntry, *described),
      number_unless(etdump::debug::kDelegateIdInt,
                    id != nullptr && text == nullptr ? id->index : kUnsetDelegateIndex, kUnsetDelegateIndex),
      reference(etdump::debug::kDelegateIdStr, text == nullptr ? 0 : name(text)),
  };
  add_event(etdump::event::kDebug, builder_.table(fields, 5));
  return true;
}

Result<bool> ETDump::log(const DelegateEventId* id, const EValue& value, bool is_output) {
  if (value.tag == Tag::ListTensor) return log(id, value, value.to_tensor_list(), is_output);
  if (!value.is_tensor()) return log(id, value, {}, is_output);
  const Tensor one = value.to_tensor();
  return log(id, value, {&one, 1}, is_output);
}

Result<bool> ETDump::log_value(const EValue& value, LoggedValue kind) {
  return log(nullptr, value, kind == LoggedValue::ProgramOutput);
}

Result<bool> ETDump::wanted(DelegateEventId id) {
  if (sink_ == nullptr) return false;
  return filter_ == nullptr ? Result<bool>(true) : filter_->filter(id);
}

Result<bool> ETDump::log_delegate_output(DelegateEventId id, const EValue& value) {
  RL_TRY_ASSIGN(const bool chosen, wanted(id));
  return chosen ? log(&id, value, false) : Result<bool>(false);
}

Result<bool> ETDump::log_delegate_output(DelegateEventId id, Span<const Tensor> values) {
  RL_TRY_ASSIGN(const bool chosen, wanted(id));
  EValue list;
  list.tag = Tag::ListTensor;
  return chosen ? log(&id, list, values, false) : Result<bool>(false);
}

}  // namespace rushlight
