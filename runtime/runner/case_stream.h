// SPDX-License-Identifier: BSD-3-Clause
// The file format by which runners receive calls and return results: one binary file each way, so that the
// smallest board needs neither a parser nor printf. Little-endian; every item starts at a multiple of 16
// bytes from the start of the file.
//
//   request:  "RLIO" u32 calls u32 flags u32 0        then for each call
//             flags: 1 gives every call a method loaded for it, otherwise calls of one method share it
//     call:   u32 name length, u32 values, u32 0, u32 0, name with its zero byte
//     value:  u32 tag (EValue's), u32 dtype, u32 rank, u32 data bytes, i32 sizes[rank], data
//   response: "RLIO" u32 calls u32 0 u32 0, then Report, then for each call
//     call:   u32 0, u32 values, u32 stack bytes, u32 0, CallReport
//     value:  as above
//
// A tensor's data is in the tensor's own dim order; an int or double has 8 bytes, a bool 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Properties of a run. The file contains this struct as is.
struct Report {
  uint64_t program_bytes;
  uint64_t method_arena_bytes;  // this and the next members: the method loaded last
  uint64_t planned_bytes;
  uint64_t temporary_peak_bytes;
  uint64_t load_instructions;  // 0 if the platform cannot count
  uint64_t load_ns;
  uint64_t scratch_bytes;   // largest scratch that a kernel requested; temporary_peak_bytes is the use
  uint64_t prepared_bytes;  // constants in kernel-specific layouts
};

// Cost of one call.
struct CallReport {
  uint64_t instructions;
  uint64_t ns;
};

// Reads a request.
class CaseReader {
 public:
  explicit CaseReader(Span<const uint8_t> bytes) : bytes_(bytes) {}

  // Each function returns false if the stream ends early or is invalid.
  bool begin(uint32_t* calls, bool* fresh_methods = nullptr);
  bool call(const char** name, uint32_t* values);

  // Memory for a tensor that value() returns; must live as long as the tensor.
  struct TensorStorage {
    SizesType sizes[kTensorDimensionLimit];
    DimOrderType dim_order[kTensorDimensionLimit];
    StridesType strides[kTensorDimensionLimit];
    alignas(TensorImpl) uint8_t impl[sizeof(TensorImpl)];
  };
  // Reads the next value. `dim_order` is the receiving tensor's; a tensor of another rank is row-major. The
  // data stays in the stream.
  bool value(Span<const DimOrderType> dim_order, TensorStorage* storage, EValue* value);

 private:
  const uint8_t* take(size_t size);
  Span<const uint8_t> bytes_;
  size_t position_ = 0;
};

// Writes a response. ok() tells at the end if all writes succeeded.
class CaseWriter {
 public:
  // Writes to `file`, an open handle of platform::file_open().
  explicit CaseWriter(int file) : file_(file) {}

  void begin(uint32_t calls, const Report& report);
  // `stack_bytes` is the peak stack use so far, or 0 if unknown.
  void call(uint32_t values, const CallReport& report, size_t stack_bytes = 0);
  void value(const EValue& value);
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  void put(const void* data, size_t size);
  void pad();
  int file_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace rushlight
