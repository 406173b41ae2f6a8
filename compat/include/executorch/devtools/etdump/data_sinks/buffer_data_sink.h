// SPDX-License-Identifier: BSD-3-Clause
// Writes to memory of the caller, one value after the other, until it is full. ETDumpGen::set_debug_buffer()
// creates such a sink.
#pragma once

#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/span.h>

namespace executorch::etdump {

// Does not own the memory. A default-constructed sink has none and refuses all values with bytes.
class BufferDataSink : public DataSinkBase {
 public:
  // Each write starts at an address that is a multiple of `alignment`; the offsets that write() returns count
  // from the start of the buffer and include the padding. Error: InvalidArgument (not a power of two).
  static ::executorch::runtime::Result<BufferDataSink> create(::executorch::runtime::Span<uint8_t> buffer,
                                                              size_t alignment = 64) noexcept;
  static ::executorch::runtime::Result<BufferDataSink> create(void* ptr, size_t size,
                                                              size_t alignment = 64) noexcept;

  BufferDataSink() = default;
  BufferDataSink(const BufferDataSink&) = delete;
  BufferDataSink& operator=(const BufferDataSink&) = delete;
  BufferDataSink(BufferDataSink&&) = default;
  BufferDataSink& operator=(BufferDataSink&&) = default;

  // Copies `size` bytes and returns their offset. Error: OutOfResources (does not fit; nothing is written).
  ::executorch::runtime::Result<size_t> write(const void* ptr, size_t size) override;
  // Capacity in bytes; never fails.
  ::executorch::runtime::Result<size_t> get_storage_size() const { return buffer_.size(); }
  // Bytes up to the end of the last value, with padding between values.
  size_t get_used_bytes() const override { return used_; }

 private:
  BufferDataSink(::executorch::runtime::Span<uint8_t> buffer, size_t alignment)
      : buffer_(buffer), alignment_(alignment) {}

  ::executorch::runtime::Span<uint8_t> buffer_;
  size_t used_ = 0;
  size_t alignment_ = 1;
};

}  // namespace executorch::etdump
