// SPDX-License-Identifier: BSD-3-Clause
// A .pte file, opened: its structure proven, its constants at hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/data_loader.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/tensor/tensor.h"

namespace rushlight {

class MethodMeta;

// How much of a program is proven before it is used. The names are ExecuTorch's.
enum class Verification : uint8_t {
  // The file's head only: for programs in flash that were verified where they were made. What a method
  // refers to (indices, ranges, shapes, kinds) is proven in any case when it is loaded.
  Minimal,
  // Every offset, length and alignment of the file as well.
  InternalConsistency,
};

class Program {
 public:
  // Reads and verifies the program; `loader` outlives it. Constants are used where the loader puts them.
  // Errors: InvalidProgram (damaged, or no .pte), NotSupported (a schema version this runtime does not
  // know), AccessFailed (the loader's).
  [[nodiscard]] static Result<Program> load(DataLoader& loader,
                                            Verification verification = Verification::InternalConsistency);

  [[nodiscard]] size_t num_methods() const;
  [[nodiscard]] const char* method_name(size_t index) const;  // index < num_methods()

  // Error: NotFound, with the names there are.
  [[nodiscard]] Result<MethodMeta> method_meta(const char* name) const;

  // ---- For the executor and the data maps ----

  [[nodiscard]] flatbuffer::Table root() const;
  // Where in the loader's data segments are counted from; 0 without segments.
  [[nodiscard]] size_t segment_base() const { return segment_base_; }
  // All bytes of a segment, in place where the loader allows.
  // Errors: InvalidProgram (no such segment, or it leaves the file), or the loader's.
  [[nodiscard]] Result<FreeableBuffer> load_segment(uint64_t index) const;
  // `nbytes` of constant number `index`, as tensors name it.
  [[nodiscard]] Result<const void*> constant(uint32_t index, size_t nbytes) const;
  // Copies the initial state of a mutable tensor: entry `index` of mutable segment `segment`.
  Error load_mutable(uint64_t segment, uint32_t index, void* target, size_t nbytes) const;
  // What the exporter made for a delegate, by its reference.
  [[nodiscard]] Result<FreeableBuffer> delegate_data(flatbuffer::Table reference) const;

 private:
  Program(DataLoader& loader, FreeableBuffer data, size_t segment_base)
      : loader_(&loader), data_(std::move(data)), segment_base_(segment_base) {}

  Error load_constants();
  // Byte range of a segment in the loader's data, proven to lie in it.
  Error segment_range(uint64_t index, size_t* offset, size_t* size) const;

  DataLoader* loader_;
  FreeableBuffer data_;
  size_t segment_base_;  // where segment offsets count from
  FreeableBuffer constants_;
};

}  // namespace rushlight
