// SPDX-License-Identifier: BSD-3-Clause
// Tensors of the memory plan lie in one block at the plan's offsets, all others in blocks of exactly their
// size. If an edit has enlarged a tensor, its recorded bytes repeat.
#include "tests/fuzz/built_call.h"

#include <algorithm>

namespace rushlight::fuzz {

namespace {

constexpr size_t kMostBytes = 1 << 18;  // the limit for one tensor

char small(char code) { return code >= 'A' && code <= 'Z' ? static_cast<char>(code - 'A' + 'a') : code; }

}  // namespace

BuiltCall::BuiltCall(RecordedCall call, const KernelEntry& kernel, const MemoryPlan& plan, bool is_dynamic)
    : call_(std::move(call)) {
  const std::vector<RecordedCall::Named> named = call_.tensors(kernel);
  for (const RecordedCall::Named& each : named) {
    CallTensor& tensor = *each.tensor;
    if (tensor.nbytes() > kMostBytes) return;
    std::vector<StridesType>& strides = strides_.emplace_back(tensor.sizes.size());
    const bool shrinks = each.is_written && is_dynamic;
    impls_.emplace_back(tensor.type, static_cast<ptrdiff_t>(tensor.sizes.size()), tensor.sizes.data(),
                        nullptr, tensor.order.data(), strides.data(),
                        shrinks ? TensorShapeDynamism::DYNAMIC_BOUND : TensorShapeDynamism::STATIC);
    tensors_.push_back({&impls_.back(), each.is_written});
  }
  std::vector<Span<uint8_t>> memory(named.size());
  size_t together = 0;
  for (const MemoryPlan::Slot& slot : plan.shared) {
    together = std::max(together, slot.offset + tensors_[slot.tensor].impl->nbytes());
  }
  const Span<uint8_t> block = heap_.allocate(together);
  for (const MemoryPlan::Slot& slot : plan.shared) {
    memory[slot.tensor] = block.subspan(slot.offset, tensors_[slot.tensor].impl->nbytes());
  }
  // Fills the tensors that are read last: shared memory then holds their values in full.
  for (const bool is_written : {true, false}) {
    for (size_t i = 0; i < named.size(); ++i) {
      if (named[i].is_written != is_written) continue;
      const size_t size = tensors_[i].impl->nbytes();
      if (memory[i].data() == nullptr) memory[i] = heap_.allocate(size);
      if (memory[i].data() == nullptr) return;
      tensors_[i].impl->set_data(memory[i].data(), Storage::Planned);
      const std::vector<uint8_t>& bytes = named[i].tensor->bytes;
      for (size_t b = 0; b < size; ++b) {
        memory[i].data()[b] = bytes.empty() ? 0 : bytes[b % bytes.size()];
      }
    }
  }
  for (size_t i = 0; i < call_.arguments.size(); ++i) {
    arguments_.push_back(keep(make(call_.arguments[i], small(kernel.signature[i]))));
  }
  is_built_ = true;
}

EValue BuiltCall::make(CallValue& value, char code) {
  switch (value.kind) {
    case CallValue::Kind::None:
      return {};
    case CallValue::Kind::Tensor:
      return EValue(Tensor(tensors_[next_tensor_++].impl));
    case CallValue::Kind::Int:
      return code == 'd' ? EValue(static_cast<double>(value.number)) : EValue(value.number);
    case CallValue::Kind::Double:
      return EValue(value.real);
    case CallValue::Kind::Bool:
      return EValue(value.number != 0);
    case CallValue::Kind::String:
      return EValue(std::string_view(value.text));
    case CallValue::Kind::List:
      return make_list(value, code);
  }
  return {};
}

EValue BuiltCall::make_list(CallValue& value, char code) {
  ListStorage& list = lists_.emplace_back();
  EValue made;
  for (CallValue& item : value.items) {
    list.doubles.push_back(item.kind == CallValue::Kind::Int ? static_cast<double>(item.number) : item.real);
    list.bools.push_back(item.number != 0 ? 1 : 0);
    const bool is_absent = item.kind == CallValue::Kind::None;
    list.values.push_back(is_absent ? nullptr : keep(make(item, 'i')));
  }
  list.box(code, &made);
  return made;
}

}  // namespace rushlight::fuzz
