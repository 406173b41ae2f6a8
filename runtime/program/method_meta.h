// SPDX-License-Identifier: BSD-3-Clause
// Properties of a method before it is loaded: inputs, outputs, memory, backends.
//
//   auto meta = program.method_meta("forward");
//   size_t arena = *meta->arena_bytes();
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/schema.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// The tag of a loaded value of this kind.
Tag tag_of(schema::ValueKind kind);

// Description of an input or output tensor. The spans point into the program.
struct TensorInfo {
  ScalarType scalar_type;
  TensorShapeDynamism dynamism;
  Span<const int32_t> sizes;  // upper bounds if the shape is dynamic
  Span<const uint8_t> dim_order;
  bool is_memory_planned;  // or a constant; otherwise the caller provides memory
};

// A device as the file encodes it: type 0 is the CPU, 1 CUDA.
struct Device {
  uint8_t type = 0;
  uint8_t index = 0;
};

// A view of the program, which must outlive it. Cheap to copy.
class MethodMeta {
 public:
  // `plan` is a verified execution plan.
  explicit MethodMeta(flatbuffer::Table plan) : plan_(plan) {}

  [[nodiscard]] const char* name() const;
  [[nodiscard]] size_t num_inputs() const;
  [[nodiscard]] size_t num_outputs() const;
  // Kind and tensor description of an input or output. Errors: InvalidArgument (index), InvalidProgram (the
  // value does not exist), InvalidType (not a tensor).
  [[nodiscard]] Result<Tag> input_tag(size_t index) const;
  [[nodiscard]] Result<Tag> output_tag(size_t index) const;
  [[nodiscard]] Result<TensorInfo> input_tensor(size_t index) const;
  [[nodiscard]] Result<TensorInfo> output_tensor(size_t index) const;

  // Planned buffers, counted from 0: buffer 0 has memory id 1 in the file.
  [[nodiscard]] size_t num_planned_buffers() const;
  // Bytes. Errors: InvalidArgument (index), InvalidProgram (negative or too large).
  [[nodiscard]] Result<size_t> planned_buffer_size(size_t index) const;
  // The device that the buffer must be on. Error: InvalidArgument (index).
  [[nodiscard]] Result<Device> planned_buffer_device(size_t index) const;

  // Bytes that loading the method takes from MemoryManager::method, excluding allocations of backends. The
  // arena must be aligned to 8 bytes. Verifies the plan. Errors: InvalidProgram and NotSupported, as loading
  // it; MemoryAllocationFailed (exceeds the address space).
  [[nodiscard]] Result<size_t> arena_bytes() const;
  // The same for a target with pointers of `pointer_bytes` bytes (4 or 8).
  [[nodiscard]] Result<uint64_t> arena_bytes(size_t pointer_bytes) const;

  // Backends of the method's delegates, one entry per delegate; names may repeat.
  [[nodiscard]] size_t num_backends() const;
  [[nodiscard]] Result<const char*> backend_name(size_t index) const;  // InvalidArgument (index)
  [[nodiscard]] bool uses_backend(const char* name) const;

  // ---- For the executor ----
  [[nodiscard]] flatbuffer::Table plan() const { return plan_; }

 private:
  flatbuffer::Table plan_;
};

}  // namespace rushlight
