// SPDX-License-Identifier: BSD-3-Clause
// The facts cost one pass over the calls. Tensors are identified by their storage: a tensor with other sizes
// over the same memory has the same writer and readers.
#include "backends/rewrite/graph.h"

#include <cstring>
#include <string>
#include <utility>

#include "runtime/tensor/evalue.h"

namespace rushlight::rewrite {

using Kind = CallList::Kind;

int64_t numel(const Sizes& sizes) {
  int64_t count = 1;
  for (const int32_t size : sizes) count *= size;
  return count;
}

std::vector<uint8_t> row_major(size_t rank) {
  std::vector<uint8_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<uint8_t>(i);
  return order;
}

Graph::Graph(CallList* list, const OperatorTable& operators) : list_(*list), operators_(operators) {
  update();
}

void Graph::update() {
  list_.tidy();
  facts_.assign(list_.num_storages(), Facts());
  const auto facts_of = [&](ValueId id) -> Facts& { return facts_[static_cast<size_t>(value(id).storage)]; };
  for (const ValueId id : list_.inputs()) {
    if (is_tensor(id)) facts_of(id).is_input = true;
  }
  for (const ValueId id : list_.outputs()) {
    if (is_tensor(id)) facts_of(id).is_output = true;
  }
  for (size_t call = 0; call < num_calls(); ++call) {
    for (const ValueId id : reads(call)) {
      std::vector<uint32_t>& readers = facts_of(id).readers;
      if (readers.empty() || readers.back() != call) readers.push_back(static_cast<uint32_t>(call));
    }
    for (const ValueId id : writes(call)) {
      Facts& written = facts_of(id);
      written.writer = ++written.num_writes == 1 && !written.is_input ? static_cast<int32_t>(call) : kNone;
    }
  }
}

const Graph::Row& Graph::row(size_t call) const {
  const auto index = static_cast<size_t>(list_.operator_of(call));
  if (index >= rows_.size()) rows_.resize(index + 1);
  Row& row = rows_[index];
  if (row.kernel == nullptr) {
    const std::string name = list_.operator_name(call);
    row.kernel = operators_.find(name.c_str(), "");
    row.traits = traits_of(name);
  }
  return row;
}

std::string_view Graph::name(size_t call) const { return is_removed(call) ? "" : row(call).kernel->name; }
TraitSet Graph::traits(size_t call) const { return is_removed(call) ? 0 : row(call).traits; }

std::vector<ValueId> Graph::tensors(size_t call, bool written) const {
  std::vector<ValueId> found;
  if (is_removed(call)) return found;
  const char* signature = row(call).kernel->signature;
  const std::vector<ValueId>& arguments = list_.arguments(call);
  for (size_t i = 0; i < arguments.size() && signature[i] != '\0'; ++i) {
    // A view writes its result here.
    if ((is_written(signature[i]) || signature[i] == 'e') != written) continue;
    const CallList::Value& argument = value(arguments[i]);
    if (argument.kind == Kind::Tensor) found.push_back(arguments[i]);
    if (argument.kind != Kind::TensorList && argument.kind != Kind::OptionalTensorList) continue;
    for (const int64_t item : argument.integers) {
      if (item >= 0) found.push_back(static_cast<ValueId>(item));
    }
  }
  return found;
}

void Graph::replace(size_t call, const char* name, const char* overload, std::vector<ValueId> arguments) {
  list_.replace_call(call, name, overload, std::move(arguments));
}

bool Graph::has_no_effect(size_t call) const {
  return !writes(call).empty() && !operators_.keeps_order(*row(call).kernel);
}

int32_t Graph::writer(ValueId id, std::string_view wanted) const {
  if (!is_tensor(id)) return kNone;
  const int32_t call = writer(id);
  return call != kNone && name(static_cast<size_t>(call)) == wanted ? call : kNone;
}

bool Graph::has_one_reader(ValueId id) const {
  return facts(id).readers.size() == 1 && !facts(id).is_output && !facts(id).is_input;
}

bool Graph::is_row_major(ValueId id) const { return value(id).order == row_major(value(id).order.size()); }

std::optional<ValueId> Graph::reshaped(ValueId id, const Sizes& sizes) {
  if (value(id).sizes == sizes && is_row_major(id)) return id;
  if (!is_row_major(id)) return std::nullopt;
  return relaid(id, sizes, row_major(sizes.size()));
}

std::optional<ValueId> Graph::relaid(ValueId id, Sizes sizes, std::vector<uint8_t> order) {
  if (value(id).sizes == sizes && value(id).order == order) return id;
  if (list_.storage_of(id).is_external || numel(value(id).sizes) != numel(sizes)) return std::nullopt;
  // The facts of a new constant's storage are not known until update().
  const ValueId alias = list_.alias(id, std::move(sizes), std::move(order));
  facts_.resize(list_.num_storages());
  return alias;
}

ValueId Graph::tensor(ScalarType dtype, Sizes sizes, std::vector<uint8_t> order) {
  const ValueId id = list_.tensor(dtype, std::move(sizes), std::move(order));
  facts_.resize(list_.num_storages());
  return id;
}

ValueId Graph::constant(ScalarType dtype, Sizes sizes, std::vector<uint8_t> bytes) {
  const ValueId id = list_.own_constant(dtype, std::move(sizes), {}, std::move(bytes));
  facts_.resize(list_.num_storages());
  return id;
}

bool Graph::same_elements(ValueId a, ValueId b) const {
  if (a == b) return true;
  if (!is_tensor(a) || !is_tensor(b) || !is_row_major(a) || !is_row_major(b)) return false;
  if (value(a).dtype != value(b).dtype) return false;
  if (value(a).storage == value(b).storage) return true;
  // Aliases of constants have separate storages.
  if (!is_constant(a) || !is_constant(b)) return false;
  const Span<const uint8_t> first = list_.constant_of(a).bytes, second = list_.constant_of(b).bytes;
  return first.data() == second.data() && first.size() == second.size();
}

// Follows the calls that pass a number on. Their results are tensors of one element in exact dtypes:
// conversions to a float of 32 bits or more keep small integers.
ValueId Graph::source_of_number(ValueId id) const {
  while (is_tensor(id) && !is_constant(id)) {
    const bool is_exact = value(id).dtype == ScalarType::Float || value(id).dtype == ScalarType::Double;
    const int32_t made = writer(id);
    if (made == kNone || !is_exact || numel(sizes(id)) != 1) return id;
    const auto call = static_cast<size_t>(made);
    const std::string_view by = name(call);
    if (by == "aten::full.out" || by == "aten::full_like.out") return argument(call, 1);
    if (by == "aten::scalar_tensor.out") return argument(call, 0);
    if (by != "dim_order_ops::_to_dim_order_copy.out" && by != "aten::_to_copy.out") return id;
    id = argument(call, 0);
  }
  return id;
}

std::optional<double> Graph::number(ValueId of) const {
  const ValueId id = source_of_number(of);
  const CallList::Value& given = value(id);
  switch (given.kind) {
    case Kind::Int:
    case Kind::Bool:
      return static_cast<double>(given.number);
    case Kind::Double:
      return given.real;
    case Kind::Tensor:
      break;
    default:
      return std::nullopt;
  }
  if (!is_constant(id) || numel(given.sizes) != 1) return std::nullopt;
  const uint8_t* bytes = list_.constant_of(id).bytes.data();
  const auto as = [&](auto element) {
    std::memcpy(&element, bytes, sizeof element);
    return static_cast<double>(element);
  };
  switch (given.dtype) {
    case ScalarType::Float:
      return as(0.0F);
    case ScalarType::Double:
      return as(0.0);
    case ScalarType::Long:
      return as(int64_t{0});
    case ScalarType::Int:
      return as(int32_t{0});
    default:
      return std::nullopt;
  }
}

bool Graph::is_number(ValueId id, double expected) const {
  const std::optional<double> found = number(id);
  return found.has_value() && *found == expected;
}

std::optional<int64_t> Graph::integer(ValueId id) const {
  if (value(id).kind != Kind::Int) return std::nullopt;
  return value(id).number;
}

std::vector<int64_t> Graph::integers(ValueId id) const {
  std::vector<int64_t> items;
  if (value(id).kind != Kind::IntList) return items;
  for (const int64_t item : value(id).integers) items.push_back(value(static_cast<ValueId>(item)).number);
  return items;
}

}  // namespace rushlight::rewrite
