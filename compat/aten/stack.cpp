// SPDX-License-Identifier: BSD-3-Clause
// Views of arguments in ATen mode. A list of values becomes a list that already holds its items, so that
// reading it gathers nothing.
#include "compat/detail/stack.h"

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include "runtime/base/log.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace et = executorch::ET_RUNTIME_NAMESPACE;

namespace {

// A list with its items at one address.
template <class T>
struct HeldList {
  explicit HeldList(size_t size) : items(size + 1), list{nullptr, items.data()} {}
  std::vector<T> items;  // one more than needed: the address is not null
  AtenList<T> list;
};

template <class T, class Member>
et::EValue list_value(std::deque<std::shared_ptr<void>>& lists, Tag tag, std::shared_ptr<HeldList<T>> held,
                      size_t size, Member member) {
  AtenValue value;
  value.tag = tag;
  value.length = static_cast<uint32_t>(size);
  value.payload.*member = &held->list;
  lists.push_back(std::move(held));
  return et::EValue(value);
}

}  // namespace

et::EValue OfficialValues::of(const EValue& value) {
  AtenValue flat;
  flat.tag = value.tag;
  flat.length = value.length;
  switch (value.tag) {
    case Tag::Tensor:
      return rushlight::aten::alias(value.to_tensor());
    case Tag::ListInt: {
      const auto ints = value.to_int_list();
      auto held = std::make_shared<HeldList<int64_t>>(ints.size());
      std::copy(ints.begin(), ints.end(), held->items.begin());
      return list_value(lists_, value.tag, held, ints.size(), &AtenValue::Payload::as_int_list);
    }
    case Tag::ListTensor: {
      const auto tensors = value.to_tensor_list();
      auto held = std::make_shared<HeldList<at::Tensor>>(tensors.size());
      for (size_t i = 0; i < tensors.size(); ++i) held->items[i] = rushlight::aten::alias(tensors[i]);
      return list_value(lists_, value.tag, held, tensors.size(), &AtenValue::Payload::as_tensor_list);
    }
    case Tag::ListOptionalTensor: {
      const auto tensors = value.to_optional_tensor_list();
      auto held = std::make_shared<HeldList<std::optional<at::Tensor>>>(tensors.size());
      for (size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].has_value()) held->items[i] = rushlight::aten::alias(*tensors[i]);
      }
      return list_value(lists_, value.tag, held, tensors.size(),
                        &AtenValue::Payload::as_optional_tensor_list);
    }
    default:  // numbers, strings and lists of them: the payload is a number or the address of the elements
      flat.payload.as_int = value.payload.as_int;
      return et::EValue(flat);
  }
}

OfficialStack::OfficialStack(EValue* const* arguments, size_t size) : arguments_(arguments) {
  for (size_t i = 0; i < size; ++i) {
    size_t same = 0;
    while (same < i && arguments[same] != arguments[i]) ++same;
    if (same == i) values_.push_back(views_.of(*arguments[i]));
    pointers_.push_back(same == i ? &values_.back() : pointers_[same]);
  }
}

Error OfficialStack::finish() {
  for (size_t i = 0; i < pointers_.size(); ++i) {
    const EValue& ours = *arguments_[i];
    if (ours.is_tensor()) {
      RL_TRY(rushlight::aten::store(pointers_[i]->toTensor(), ours.to_tensor(), i));
    } else if (ours.tag == Tag::ListTensor) {
      const auto views = pointers_[i]->toTensorList();
      const auto tensors = ours.to_tensor_list();
      for (size_t k = 0; k < tensors.size(); ++k) RL_TRY(rushlight::aten::store(views[k], tensors[k], i));
    }
  }
  return Error::Ok;
}

namespace {

// The value as PyTorch passes it, which rushlight::aten::Values turns into rushlight's.
c10::IValue ivalue_of(const et::EValue& value) {
  switch (value.tag) {
    case Tag::Tensor:
      return value.toTensor();
    case Tag::Int:
      return value.toInt();
    case Tag::Double:
      return value.toDouble();
    case Tag::Bool:
      return value.toBool();
    case Tag::String:
      return std::string(value.toString());
    case Tag::ListInt:
      return value.toIntList();
    case Tag::ListDouble:
      return value.toDoubleList();
    case Tag::ListBool: {
      c10::List<bool> list;
      for (const bool item : value.toBoolList()) list.push_back(item);
      return list;
    }
    case Tag::ListTensor:
      return value.toTensorList();
    case Tag::ListOptionalTensor: {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& item : value.toListOptionalTensor()) list.push_back(item);
      return list;
    }
    default:
      return {};
  }
}

}  // namespace

OurStack::OurStack(et::Span<et::EValue*> stack) : stack_(stack) {
  for (et::EValue* value : stack) {
    auto added = add(*value);
    if (!added.ok()) error_ = added.error();
    pointers_.push_back(added.ok() ? *added : nullptr);
  }
}

Result<EValue*> OurStack::add(et::EValue& value) {
  try {
    return views_.add(ivalue_of(value));
  } catch (...) {
    return rushlight::aten::caught("argument");
  }
}

et::Error OurStack::finish() {
  for (size_t i = 0; i < pointers_.size(); ++i) {
    if (!pointers_[i]->is_tensor()) continue;
    at::Tensor& tensor = stack_[i]->toTensor();
    const auto sizes = pointers_[i]->to_tensor().sizes();
    const std::vector<int64_t> wide(sizes.begin(), sizes.end());
    if (tensor.sizes() == c10::IntArrayRef(wide)) continue;
    const auto error = et::resize_tensor(tensor, c10::IntArrayRef(wide));
    if (error != et::Error::Ok) return error;
  }
  return et::Error::Ok;
}

OurValue::OurValue(const et::EValue& value) {
  if (value.isTensor()) {
    auto alias = rushlight::aten::TensorAlias::make(value.toTensor());
    if (!alias.ok()) {
      error_ = alias.error();
      return;
    }
    tensor_ = std::make_shared<rushlight::aten::TensorAlias>(std::move(*alias));
    value_ = EValue(tensor_->tensor());
  } else {
    // A method takes numbers only; it refuses the tags of the others.
    value_.tag = value.tag;
    value_.length = value.length;
    value_.payload.as_int = value.payload.as_int;
  }
}

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
