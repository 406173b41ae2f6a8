// SPDX-License-Identifier: BSD-3-Clause
// The planned memory of a value.
#pragma once

#include <cstdint>

#include "runtime/executor/method.h"
#include "runtime/program/schema.h"

namespace rushlight {

// Addresses [begin, end).
struct PlannedRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  [[nodiscard]] bool is_empty() const { return begin == end; }
};

[[nodiscard]] inline bool is_tensor(flatbuffer::TableVector values, uint32_t value) {
  return values[value].scalar<uint8_t>(schema::evalue::kValType) ==
         static_cast<uint8_t>(schema::ValueKind::Tensor);
}

// The range of a tensor's largest shape; empty if `value` is no tensor in planned memory. `values` are those
// of the method's plan.
[[nodiscard]] inline PlannedRange planned_range(const Method& method, flatbuffer::TableVector values,
                                                uint32_t value) {
  if (!is_tensor(values, value)) return {};
  const Tensor tensor = method.tensor(value);
  const TensorImpl& impl = *tensor.impl();
  if (impl.storage() != Storage::Planned) return {};
  const auto begin = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  return {begin, begin + impl.numel_bound() * element_size(impl.scalar_type())};
}

}  // namespace rushlight
