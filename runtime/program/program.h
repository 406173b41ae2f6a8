// SPDX-License-Identifier: BSD-3-Clause
// Reader of program files (.pte): verifies the structure and gives access to methods and constants.
//
//   BufferDataLoader loader(file, size);
//   auto program = Program::load(loader);
//   if (!program.ok()) return program.error();
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

// The amount of verification at load. The names are ExecuTorch's.
enum class Verification : uint8_t {
  // Only the file header: for programs in flash that were verified where they were produced. References of a
  // method (indices, ranges, shapes, kinds) are verified in any case when it is loaded.
  Minimal,
  // Also every offset, length and alignment of the file.
  InternalConsistency,
};

// A loaded program. Movable; methods keep a reference to it, so it must outlive them at a fixed address.
class Program {
 public:
  // Reads and verifies a program. `loader` must outlive it. Constants stay in the loader's memory. Errors:
  // InvalidProgram (damaged, or not a .pte), NotSupported (unknown schema version), AccessFailed or another
  // error of the loader.
  [[nodiscard]] static Result<Program> load(DataLoader& loader,
                                            Verification verification = Verification::InternalConsistency);

  [[nodiscard]] size_t num_methods() const;
  [[nodiscard]] const char* method_name(size_t index) const;  // index < num_methods()

  // The properties of a method. Error: NotFound; logs the number of methods and the first one's name.
  [[nodiscard]] Result<MethodMeta> method_meta(const char* name) const;

  // ---- For the executor and the data maps ----

  [[nodiscard]] flatbuffer::Table root() const;
  // Offset of the segments in the loader's data; 0 if the program has none.
  [[nodiscard]] size_t segment_base() const { return segment_base_; }
  // Returns all bytes of a segment, in place if the loader permits. Errors: InvalidProgram (no such segment,
  // or outside of the file), or the loader's.
  [[nodiscard]] Result<FreeableBuffer> load_segment(uint64_t index) const;
  // The first `nbytes` bytes of the constant with index `index`. Error: InvalidProgram.
  [[nodiscard]] Result<const void*> constant(uint32_t index, size_t nbytes) const;
  // Copies the initial state of a mutable tensor, entry `index` of mutable segment `segment`, to `target`.
  // Errors: InvalidProgram, or the loader's.
  Error load_mutable(uint64_t segment, uint32_t index, void* target, size_t nbytes) const;
  // The payload of a delegate. Errors: InvalidProgram, or the loader's.
  [[nodiscard]] Result<FreeableBuffer> delegate_data(flatbuffer::Table reference) const;

 private:
  Program(DataLoader& loader, FreeableBuffer data, size_t segment_base)
      : loader_(&loader), data_(std::move(data)), segment_base_(segment_base) {}

  Error load_constants();
  // Byte range of a segment in the loader's data; verified to lie inside it.
  Error segment_range(uint64_t index, size_t* offset, size_t* size) const;

  DataLoader* loader_;
  FreeableBuffer data_;
  size_t segment_base_;  // base of segment offsets
  FreeableBuffer constants_;
};

}  // namespace rushlight
