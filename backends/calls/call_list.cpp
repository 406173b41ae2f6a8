// SPDX-License-Identifier: BSD-3-Clause
// Each tensor has a storage, which aliases share. The list records the first and last call that uses each
// storage, from which program() plans memory (plan.h). Values are never removed, also if fusing leaves some
// unused.
#include "backends/calls/call_list.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "backends/calls/plan.h"
#include "backends/calls/program_writer.h"
#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight {

namespace {

std::vector<uint8_t> row_major(size_t rank) {
  std::vector<uint8_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<uint8_t>(i);
  return order;
}

// Returns UINT64_MAX on overflow.
uint64_t bytes_of(ScalarType dtype, const std::vector<int32_t>& sizes) {
  uint64_t bytes = element_size(dtype);
  for (const int32_t size : sizes) {
    if (!checked_mul(bytes, size, &bytes)) return UINT64_MAX;
  }
  return bytes;
}

}  // namespace

ValueId CallList::add(Value value) {
  values_.push_back(std::move(value));
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId CallList::none() { return add({}); }

ValueId CallList::integer(int64_t number) {
  Value value;
  value.kind = Kind::Int;
  value.number = number;
  return add(std::move(value));
}

ValueId CallList::real(double number) {
  Value value;
  value.kind = Kind::Double;
  value.real = number;
  return add(std::move(value));
}

ValueId CallList::boolean(bool truth) {
  Value value;
  value.kind = Kind::Bool;
  value.number = truth ? 1 : 0;
  return add(std::move(value));
}

ValueId CallList::text(const char* characters) {
  Value value;
  value.kind = Kind::String;
  value.text = characters;
  return add(std::move(value));
}

// In a program, an integer list names the values that hold its integers.
ValueId CallList::integers(std::vector<int64_t> numbers) {
  // The items become indices of values, in place.
  for (int64_t& number : numbers) number = integer(number);
  return integer_values(std::move(numbers));
}

ValueId CallList::integer_values(std::vector<int64_t> ids) {
  Value value;
  value.kind = Kind::IntList;
  value.integers = std::move(ids);
  return add(std::move(value));
}

ValueId CallList::tensors(const std::vector<ValueId>& ids) {
  Value value;
  value.kind = Kind::TensorList;
  value.integers.assign(ids.begin(), ids.end());
  return add(std::move(value));
}

ValueId CallList::reals(std::vector<double> numbers) {
  Value value;
  value.kind = Kind::DoubleList;
  value.reals = std::move(numbers);
  return add(std::move(value));
}

ValueId CallList::booleans(std::vector<int64_t> truths) {
  Value value;
  value.kind = Kind::BoolList;
  value.integers = std::move(truths);
  return add(std::move(value));
}

ValueId CallList::optional_tensors(const std::vector<ValueId>& ids) {
  const ValueId id = tensors(ids);
  values_.back().kind = Kind::OptionalTensorList;
  return id;
}

ValueId CallList::plain(Value value, std::vector<int64_t> items) {
  value.integers = std::move(items);
  return add(std::move(value));
}

ValueId CallList::add_tensor(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                             Storage storage) {
  Value value;
  value.kind = Kind::Tensor;
  value.dtype = dtype;
  value.order = order.empty() ? row_major(sizes.size()) : std::move(order);
  storage.bytes = bytes_of(dtype, sizes);
  value.sizes = std::move(sizes);
  value.storage = static_cast<int32_t>(storages_.size());
  storages_.push_back(storage);
  const ValueId id = add(std::move(value));
  holders_.push_back({id});
  return id;
}

ValueId CallList::tensor(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order) {
  return add_tensor(dtype, std::move(sizes), std::move(order), {});
}

// An alias of a constant is another constant over the same bytes, because each constant has its own layout in
// the data map.
ValueId CallList::alias(ValueId of, std::vector<int32_t> sizes, std::vector<uint8_t> order) {
  Value value = this->value(of);
  if (storages_[static_cast<size_t>(value.storage)].constant >= 0) {
    const Constant& known =
        constants_[static_cast<size_t>(storages_[static_cast<size_t>(value.storage)].constant)];
    return constant(value.dtype, std::move(sizes), std::move(order), known.bytes);
  }
  // Copies the value with its storage number, so that both extend one lifetime.
  value.sizes = std::move(sizes);
  value.order = std::move(order);
  const auto storage = static_cast<size_t>(value.storage);
  const ValueId id = add(std::move(value));
  holders_[storage].push_back(id);
  return id;
}

ValueId CallList::constant(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                           Span<const uint8_t> bytes) {
  Storage storage;
  storage.constant = static_cast<int32_t>(constants_.size());
  const ValueId id = add_tensor(dtype, std::move(sizes), std::move(order), storage);
  // The key is also the index: find() parses it.
  constants_.push_back({"c" + std::to_string(constants_.size()), id, pool_->refer(bytes)});
  return id;
}

ValueId CallList::own_constant(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                               std::vector<uint8_t> bytes) {
  return constant(dtype, std::move(sizes), std::move(order), pool_->keep(std::move(bytes)));
}

int32_t CallList::operator_index(const char* name, const char* overload) {
  const std::pair<std::string, std::string> wanted(name, overload);
  // Linear: a graph uses a few different operators.
  const auto found = std::find(operators_.begin(), operators_.end(), wanted);
  if (found != operators_.end()) return static_cast<int32_t>(found - operators_.begin());
  operators_.push_back(wanted);
  return static_cast<int32_t>(operators_.size() - 1);
}

// Extends the lifetime of the storage behind a tensor, or behind each tensor of a list.
void CallList::use(ValueId id, size_t call) {
  if (id < 0) return;  // absent from a list
  const Value& used = value(id);
  if (used.kind == Kind::TensorList || used.kind == Kind::OptionalTensorList) {
    for (const int64_t item : used.integers) use(static_cast<ValueId>(item), call);
  }
  if (used.kind != Kind::Tensor) return;
  Storage& storage = storages_[static_cast<size_t>(used.storage)];
  storage.first_use = std::min(storage.first_use, call);
  storage.last_use = std::max(storage.last_use, call);
}

void CallList::call(const char* name, const char* overload, std::vector<ValueId> arguments) {
  // Arguments that are read and written alike: planning only needs the span of calls.
  for (const ValueId id : arguments) use(id, calls_.size());
  calls_.push_back({operator_index(name, overload), std::move(arguments), debug_handle_});
}

void CallList::redirect(ValueId result, ValueId other) {
  std::vector<ValueId>& arguments = calls_.back().arguments;
  // `result` may be named several times, as an input and an output.
  std::replace(arguments.begin(), arguments.end(), result, other);
  use(other, calls_.size() - 1);
}

void CallList::set_inputs(std::vector<ValueId> ids) {
  for (const ValueId id : ids) lend(id);
  inputs_ = std::move(ids);
}

// Storages of outputs are external, so that the caller's memory is written directly.
void CallList::set_outputs(std::vector<ValueId> ids) {
  for (const ValueId id : ids) lend(id);
  outputs_ = std::move(ids);
}

// Numbers have no storage, and the bytes of constants are in the data map.
void CallList::lend(ValueId id) {
  if (value(id).kind != Kind::Tensor || storage_of(id).constant >= 0) return;
  storages_[static_cast<size_t>(value(id).storage)].is_external = true;
}

void CallList::plan_input(ValueId id) {
  Storage& storage = storages_[static_cast<size_t>(value(id).storage)];
  storage.is_external = false;
  storage.is_input = true;
}

void CallList::plan_output(ValueId id) {
  Storage& storage = storages_[static_cast<size_t>(value(id).storage)];
  storage.is_external = false;
  storage.is_output = true;
}

std::string CallList::operator_name(size_t index) const {
  const auto& [name, overload] = operators_[static_cast<size_t>(calls_[index].op)];
  return overload.empty() ? name : name + "." + overload;
}

Result<std::vector<uint8_t>> CallList::program() {
  uint64_t planned = 0;
  // Inputs, outputs and constants take no planned memory.
  RL_TRY(plan_storages(&storages_, &planned));
  return ProgramWriter(*this, planned).write();
}

// Keys are "c" and an index, so lookup is a parse instead of a search.
const CallList::Constant* CallList::find(std::string_view key) const {
  if (key.empty()) return nullptr;
  size_t index = 0;
  const char* const end = key.data() + key.size();
  const auto [behind, error] = std::from_chars(key.data() + 1, end, index);  // "c12" is number 12
  const bool is_number = error == std::errc() && behind == end && index < constants_.size();
  // The comparison refuses "c012" and other prefixes: a key has one spelling.
  return is_number && constants_[index].key == key ? &constants_[index] : nullptr;
}

Result<TensorLayout> CallList::tensor_layout(std::string_view key) const {
  const Constant* found = find(key);
  if (found == nullptr) return Error::NotFound;
  const Value& tensor = value(found->value);
  return TensorLayout{tensor.dtype,
                      {tensor.sizes.data(), tensor.sizes.size()},
                      {tensor.order.data(), tensor.order.size()},
                      found->bytes.size()};
}

Result<FreeableBuffer> CallList::data(std::string_view key) const {
  const Constant* found = find(key);
  if (found == nullptr) return Error::NotFound;
  return FreeableBuffer(found->bytes.data(), found->bytes.size());
}

Error CallList::load_into(std::string_view key, void* buffer, size_t size) const {
  const Constant* found = find(key);
  if (found == nullptr) return Error::NotFound;
  if (size > found->bytes.size()) return Error::InvalidArgument;
  std::memcpy(buffer, found->bytes.data(), size);
  return Error::Ok;
}

Result<uint32_t> CallList::num_keys() const { return static_cast<uint32_t>(constants_.size()); }

Result<const char*> CallList::key(uint32_t index) const {
  if (index >= constants_.size()) return Error::InvalidArgument;
  return constants_[index].key.c_str();
}

}  // namespace rushlight
