// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of logged tensors go.
#pragma once

#include <cstring>

#include "runtime/base/checked.h"
#include "runtime/base/result.h"
#include "runtime/base/span.h"

namespace rushlight {

class DataSink {
 public:
  // Keeps a copy; returns its offset from the start of the debug data.
  // Errors: OutOfResources (no memory left), or what the sink's own storage says.
  virtual Result<size_t> write(const void* data, size_t size) = 0;

  // A new trace begins, which refers to nothing that was written before.
  virtual void restart() {}

 protected:
  ~DataSink() = default;
};

// Fills memory that the caller gives.
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

  [[nodiscard]] Span<const uint8_t> written() const { return {memory_.data(), used_}; }
  void restart() override { used_ = 0; }

 private:
  Span<uint8_t> memory_;
  size_t used_ = 0;
};

}  // namespace rushlight
