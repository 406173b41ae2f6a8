// SPDX-License-Identifier: BSD-3-Clause
// What a method asks for, before it is loaded: inputs, outputs, memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/schema.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// What a value of a kind is, loaded.
Tag tag_of(schema::ValueKind kind);

struct TensorInfo {
  ScalarType scalar_type;
  TensorShapeDynamism dynamism;
  Span<const int32_t> sizes;  // upper bounds of a dynamic shape
  Span<const uint8_t> dim_order;
  bool is_memory_planned;  // or a constant
};

// The numbers of types are the file's: 0 is the CPU, 1 CUDA.
struct Device {
  uint8_t type = 0;
  uint8_t index = 0;
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
  // Where the buffer has to lie. Error: InvalidArgument (index).
  [[nodiscard]] Result<Device> planned_buffer_device(size_t index) const;

  // Bytes that the method's values take of MemoryManager::method, without what backends allocate. The
  // arena starts at a multiple of 8. Errors: InvalidProgram, like loading it; MemoryAllocationFailed
  // (more than this machine can address).
  [[nodiscard]] Result<size_t> arena_bytes() const;
  // Likewise on a machine with pointers of `pointer_bytes` (4 or 8).
  [[nodiscard]] Result<uint64_t> arena_bytes(size_t pointer_bytes) const;

  // Backends that the method's delegates name; a backend may be named more than once.
  [[nodiscard]] size_t num_backends() const;
  [[nodiscard]] Result<const char*> backend_name(size_t index) const;  // InvalidArgument (index)
  [[nodiscard]] bool uses_backend(const char* name) const;

  // ---- For the executor ----
  [[nodiscard]] flatbuffer::Table plan() const { return plan_; }

 private:
  flatbuffer::Table plan_;
};

}  // namespace rushlight
