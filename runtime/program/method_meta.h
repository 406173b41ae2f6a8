// SPDX-License-Identifier: BSD-3-Clause
// What a method asks for, before it is loaded: inputs, outputs, memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

struct TensorInfo {
  ScalarType scalar_type;
  TensorShapeDynamism dynamism;
  Span<const int32_t> sizes;  // upper bounds of a dynamic shape
  Span<const uint8_t> dim_order;
  bool is_memory_planned;
};

class MethodMeta {
 public:
  // `plan` is a verified execution plan.
  explicit MethodMeta(flatbuffer::Table plan) : plan_(plan) {}

  [[nodiscard]] const char* name() const;
  [[nodiscard]] size_t num_inputs() const;
  [[nodiscard]] size_t num_outputs() const;
  // Errors: InvalidArgument (index), InvalidProgram (the value does not exist), InvalidType (no tensor).
  [[nodiscard]] Result<Tag> input_tag(size_t index) const;
  [[nodiscard]] Result<Tag> output_tag(size_t index) const;
  [[nodiscard]] Result<TensorInfo> input_tensor(size_t index) const;
  [[nodiscard]] Result<TensorInfo> output_tensor(size_t index) const;

  // Planned buffers, numbered from 0: memory id 1 of the file is number 0.
  [[nodiscard]] size_t num_planned_buffers() const;
  // Bytes; InvalidProgram for a size that no memory has.
  [[nodiscard]] Result<size_t> planned_buffer_size(size_t index) const;

  // ---- For the executor ----
  [[nodiscard]] flatbuffer::Table plan() const { return plan_; }

 private:
  flatbuffer::Table plan_;
};

}  // namespace rushlight
