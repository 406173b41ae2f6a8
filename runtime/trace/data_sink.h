// SPDX-License-Identifier: BSD-3-Clause
// Storage for the bytes of tensors that a tracer logs. ETDump stores offsets into this data, which becomes a
// second file for the Inspector (debug buffer).
//
//   BufferDataSink sink({buffer, sizeof buffer});
//   trace.set_data_sink(&sink);
#pragma once

#include <cstring>

#include "runtime/base/checked.h"
#include "runtime/base/result.h"
#include "runtime/base/span.h"

namespace rushlight {

// The interface. A sink must outlive the tracer that uses it.
class DataSink {
 public:
  // Stores a copy of `size` bytes and returns its offset from the start of the debug data. Errors:
  // OutOfResources (no memory left), or an error of the sink's own storage.
  virtual Result<size_t> write(const void* data, size_t size) = 0;

  // Starts a new trace, which does not refer to bytes that were written before.
  virtual void restart() {}

 protected:
  ~DataSink() = default;
};

// Writes to memory of fixed size that the caller owns. Entries are aligned to 64 bytes, the gaps zeroed. An
// entry that does not fit is refused as a whole; smaller ones may still fit.
class BufferDataSink final : public DataSink {
 public:
  static constexpr size_t kAlignment = 64;

  BufferDataSink() = default;
  explicit BufferDataSink(Span<uint8_t> memory) : memory_(memory) {}

  Result<size_t> write(const void* data, size_t size) override {
    const size_t offset = align_up(used_, kAlignment);
    if (!range_fits(offset, size, memory_.size())) return Error::OutOfResources;
    std::memset(memory_.data() + used_, 0, offset - used_);
    std::memcpy(memory_.data() + offset, data, size);
    used_ = offset + size;
    return offset;
  }

  // All bytes written so far.
  [[nodiscard]] Span<const uint8_t> written() const { return {memory_.data(), used_}; }
  void restart() override { used_ = 0; }

 private:
  Span<uint8_t> memory_;
  size_t used_ = 0;
};

}  // namespace rushlight
