// SPDX-License-Identifier: BSD-3-Clause
// Named tensors of an execution plan. The plan must be verified: nothing here checks an index or offset.
#pragma once

#include <string_view>

#include "runtime/program/flatbuffer.h"
#include "runtime/program/schema.h"

namespace rushlight::compat {

// The tensor of the value with index `index`; null if it is another kind of value. Precondition: index is
// below the plan's number of values.
inline flatbuffer::Table tensor_of(flatbuffer::Table plan, size_t index) {
  const flatbuffer::Table value = plan.tables(schema::plan::kValues)[index];
  const bool is_tensor =
      value.scalar<uint8_t>(schema::evalue::kValType) == static_cast<uint8_t>(schema::ValueKind::Tensor);
  return is_tensor ? value.table(schema::evalue::kVal) : flatbuffer::Table();
}

// The tensor's fully qualified name in the exported model ("layer.weight"), in the file; empty if it has
// none.
inline std::string_view name_of(flatbuffer::Table tensor) {
  return tensor.table(schema::tensor::kExtraTensorInfo).string(schema::extra::kFullyQualifiedName);
}

// Returns true for a mutable buffer: a tensor in planned memory that has a name.
inline bool is_attribute(flatbuffer::Table plan, size_t index) {
  const flatbuffer::Table tensor = tensor_of(plan, index);
  return tensor && tensor.table(schema::tensor::kAllocationInfo) && !name_of(tensor).empty();
}

}  // namespace rushlight::compat
