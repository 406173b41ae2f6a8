// SPDX-License-Identifier: BSD-3-Clause
// Everything comes from the program's tables. Missing operators are found by looking up each one, only to
// explain an error.
#include "python/bindings/method_facts.h"

#include <algorithm>

#include "python/bindings/captured_log.h"
#include "python/bindings/convert.h"
#include "python/bindings/failure.h"
#include "runtime/program/schema.h"

namespace py = pybind11;

namespace rushlight {

namespace {

using flatbuffer::Table;

// Bytes of a tensor in its largest shape. Checked, because the sizes come from the file.
size_t nbytes(const TensorInfo& info) {
  size_t count = 0;
  // element_size() is 0 for unknown dtypes, which gives 0 bytes.
  if (checked_numel(info.sizes, &count) && checked_mul(count, element_size(info.scalar_type), &count)) {
    return count;
  }
  captured_log().say("tensor: its sizes are negative or too large");
  fail(Error::InvalidProgram);
}

// Describes the largest shape; dynamism tells if sizes may be smaller.
py::tuple describe(const TensorInfo& info) {
  return py::make_tuple(static_cast<int>(info.scalar_type), to_tuple(info.sizes), to_tuple(info.dim_order),
                        static_cast<int>(info.dynamism), info.is_memory_planned, nbytes(info));
}

py::tuple describe(Tag tag, const Result<TensorInfo>& info) {
  return py::make_tuple(to_string(tag), info.ok() ? py::object(describe(*info)) : py::none());
}

// Tensors whose names the exporter stored: parameters and buffers.
py::list attributes(Table plan) {
  py::list list;
  const auto values = plan.tables(schema::plan::kValues);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto kind = static_cast<schema::ValueKind>(values[i].scalar<uint8_t>(schema::evalue::kValType));
    if (kind != schema::ValueKind::Tensor) continue;
    const Table tensor = values[i].table(schema::evalue::kVal);
    const Table extra = tensor.table(schema::tensor::kExtraTensorInfo);
    if (!extra) continue;
    const char* name = extra.string(schema::extra::kFullyQualifiedName);
    if (name == nullptr || *name == '\0') continue;
    const TensorInfo info = {
        static_cast<ScalarType>(tensor.scalar<int8_t>(schema::tensor::kScalarType)),
        static_cast<TensorShapeDynamism>(tensor.scalar<uint8_t>(schema::tensor::kShapeDynamism)),
        tensor.vector<int32_t>(schema::tensor::kSizes), tensor.vector<uint8_t>(schema::tensor::kDimOrder),
        static_cast<bool>(tensor.table(schema::tensor::kAllocationInfo))};
    list.append(py::make_tuple(to_str(name), describe(info)));
  }
  return list;
}

py::list to_list(const std::vector<std::string>& names) {
  py::list list;
  for (const std::string& name : names) list.append(to_str(name));
  return list;
}

}  // namespace

std::vector<std::string> operators_of(const MethodMeta& meta) {
  std::vector<std::string> names;
  const auto operators = meta.plan().tables(schema::plan::kOperators);
  for (size_t i = 0; i < operators.size(); ++i) {
    names.emplace_back(operators[i].string(schema::operator_name::kName));
    const std::string overload = operators[i].string(schema::operator_name::kOverload);
    if (!overload.empty()) names.back() += "." + overload;
  }
  return names;
}

// Named as in operators_of(), including the overload.
std::vector<std::string> missing_operators(const MethodMeta& meta, const OperatorTable& table) {
  std::vector<std::string> names = operators_of(meta);
  const auto operators = meta.plan().tables(schema::plan::kOperators);
  // From the end, so that indices of both lists agree while names are removed.
  for (size_t i = operators.size(); i-- > 0;) {
    const auto* entry = table.find(operators[i].string(schema::operator_name::kName),
                                   operators[i].string(schema::operator_name::kOverload));
    if (entry != nullptr) names.erase(names.begin() + static_cast<ptrdiff_t>(i));
  }
  return names;
}

std::vector<std::string> missing_backends(const MethodMeta& meta, const BackendTable& table) {
  std::vector<std::string> names;
  for (size_t i = 0; i < meta.num_backends(); ++i) {
    const auto name = meta.backend_name(i);
    if (!name.ok()) continue;
    const Backend* backend = table.find(*name);
    if (backend != nullptr && backend->is_available()) continue;
    if (std::find(names.begin(), names.end(), *name) == names.end()) names.emplace_back(*name);
  }
  return names;
}

py::dict method_facts(const MethodMeta& meta) {
  py::list inputs;
  py::list outputs;
  py::list planned;
  std::vector<std::string> backends;
  // An input that is no tensor has the tag only.
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    inputs.append(describe(value_of([&] { return meta.input_tag(i); }), meta.input_tensor(i)));
  }
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    outputs.append(describe(value_of([&] { return meta.output_tag(i); }), meta.output_tensor(i)));
  }
  for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
    planned.append(value_of([&] { return meta.planned_buffer_size(i); }));
  }
  for (size_t i = 0; i < meta.num_backends(); ++i) {
    const std::string name = value_of([&] { return meta.backend_name(i); });
    if (std::find(backends.begin(), backends.end(), name) == backends.end()) backends.push_back(name);
  }
  py::dict facts;
  facts["name"] = to_str(meta.name());
  facts["inputs"] = inputs;
  facts["outputs"] = outputs;
  facts["attributes"] = attributes(meta.plan());
  facts["operators"] = to_list(operators_of(meta));
  facts["backends"] = to_list(backends);
  facts["planned"] = planned;
  // Both pointer sizes, so that a host can tell the arena of a 32-bit board.
  facts["arena_32"] = value_of([&] { return meta.arena_bytes(4); });
  facts["arena_64"] = value_of([&] { return meta.arena_bytes(8); });
  return facts;
}

}  // namespace rushlight
