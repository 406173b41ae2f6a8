// SPDX-License-Identifier: BSD-3-Clause
// Edits of a finished list. Indices of calls stay valid until tidy(), so that a pass can collect what it
// changes in one walk over the calls.
#include <algorithm>
#include <utility>

#include "backends/calls/call_list.h"

namespace rushlight {

void CallList::replace_call(size_t index, const char* name, const char* overload,
                            std::vector<ValueId> arguments) {
  Call& call = calls_[index];
  call.op = operator_index(name, overload);
  call.arguments = std::move(arguments);
}

void CallList::remove_call(size_t index) {
  calls_[index].op = -1;
  calls_[index].arguments.clear();
}

void CallList::insert_call(size_t index, size_t like, const char* name, const char* overload,
                           std::vector<ValueId> arguments) {
  inserted_.push_back(
      {index, {operator_index(name, overload), std::move(arguments), calls_[like].debug_handle}});
}

void CallList::merge(ValueId id, ValueId of) {
  const auto from = value(id).storage, to = value(of).storage;
  if (from == to) return;
  Storage &source = storages_[static_cast<size_t>(from)], &target = storages_[static_cast<size_t>(to)];
  target.is_input |= source.is_input;
  target.is_output |= source.is_output;
  const int32_t constant = target.constant;
  std::vector<ValueId> moved = std::move(holders_[static_cast<size_t>(from)]);
  holders_[static_cast<size_t>(from)].clear();
  for (const ValueId each : moved) {
    Value& value = values_[static_cast<size_t>(each)];
    if (constant < 0) {
      value.storage = to;
      holders_[static_cast<size_t>(to)].push_back(each);
      continue;
    }
    // Each constant has its own layout in the data map.
    Storage own;
    own.bytes = storages_[static_cast<size_t>(to)].bytes;
    own.constant = static_cast<int32_t>(constants_.size());
    constants_.push_back(
        {"c" + std::to_string(constants_.size()), each, constants_[static_cast<size_t>(constant)].bytes});
    value.storage = static_cast<int32_t>(storages_.size());
    storages_.push_back(own);
    holders_.push_back({each});
  }
}

template <class F>
void CallList::for_each_use(F use) const {
  const auto with_items = [&](ValueId id) {
    use(id);
    const Kind kind = value(id).kind;
    if (kind != Kind::IntList && kind != Kind::TensorList && kind != Kind::OptionalTensorList) return;
    for (const int64_t item : value(id).integers) {
      if (item >= 0) use(static_cast<ValueId>(item));
    }
  };
  for (const Call& call : calls_) {
    for (const ValueId id : call.arguments) with_items(id);
  }
  for (const ValueId id : inputs_) with_items(id);
  for (const ValueId id : outputs_) with_items(id);
}

void CallList::tidy() {
  std::stable_sort(inserted_.begin(), inserted_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Call> kept;
  kept.reserve(calls_.size() + inserted_.size());
  auto next = inserted_.begin();
  for (size_t i = 0; i <= calls_.size(); ++i) {
    for (; next != inserted_.end() && next->first <= i; ++next) kept.push_back(std::move(next->second));
    if (i < calls_.size() && calls_[i].op >= 0) kept.push_back(std::move(calls_[i]));
  }
  inserted_.clear();
  calls_ = std::move(kept);
  std::vector<bool> used(values_.size());
  for_each_use([&](ValueId id) { used[static_cast<size_t>(id)] = true; });
  std::vector<bool> holds(storages_.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!used[i]) values_[i] = Value();
    if (values_[i].kind == Kind::Tensor) holds[static_cast<size_t>(values_[i].storage)] = true;
  }
  for (size_t i = 0; i < storages_.size(); ++i) {
    if (!holds[i]) storages_[i].bytes = 0;
  }
  find_lifetimes();
}

void CallList::find_lifetimes() {
  for (Storage& storage : storages_) {
    storage.first_use = SIZE_MAX;
    storage.last_use = 0;
  }
  for (size_t i = 0; i < calls_.size(); ++i) {
    for (const ValueId id : calls_[i].arguments) use(id, i);
  }
  // An input is written before the first call, and an output read after the last one.
  for (Storage& storage : storages_) {
    if (storage.is_input) storage.first_use = 0;
    if (storage.is_output) {
      storage.first_use = std::min(storage.first_use, calls_.size());
      storage.last_use = calls_.size();
    }
  }
}

}  // namespace rushlight
