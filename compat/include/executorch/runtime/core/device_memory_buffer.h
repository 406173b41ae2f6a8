// SPDX-License-Identifier: BSD-3-Clause
// Memory from a device's allocator, freed on destruction. Movable, not copyable; a moved-from buffer is
// empty.
//
//   auto buffer = DeviceMemoryBuffer::create(1024, etensor::DeviceType::CUDA);
//   if (!buffer.ok()) return buffer.error();
//   launch(buffer->data(), buffer->size());
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <executorch/runtime/core/device_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch::runtime {

class DeviceMemoryBuffer final {
 public:
  // Allocates `size` bytes on a device. The allocator must outlive the buffer. Error: NotFound (the kind of
  // device has no allocator), or the allocator's.
  static Result<DeviceMemoryBuffer> create(size_t size, etensor::DeviceType type,
                                           etensor::DeviceIndex index = 0,
                                           size_t alignment = DeviceAllocator::kDefaultAlignment);

  // An empty buffer: null and 0 bytes.
  DeviceMemoryBuffer() = default;
  // The other becomes empty.
  DeviceMemoryBuffer(DeviceMemoryBuffer&& other) noexcept { swap(other); }
  // Frees the present memory; self-assignment is safe.
  DeviceMemoryBuffer& operator=(DeviceMemoryBuffer&& other) noexcept {
    DeviceMemoryBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  DeviceMemoryBuffer(const DeviceMemoryBuffer&) = delete;
  DeviceMemoryBuffer& operator=(const DeviceMemoryBuffer&) = delete;
  // Returns the memory to the allocator that made it.
  ~DeviceMemoryBuffer() {
    if (data_ != nullptr && allocator_ != nullptr) allocator_->deallocate(data_, index_);
  }

  // The memory, which only the device can access; null if the buffer is empty.
  void* data() const { return data_; }
  size_t size() const { return size_; }
  // The memory as bytes, for arguments that take planned buffers.
  Span<uint8_t> as_span() const { return {static_cast<uint8_t*>(data_), size_}; }

 private:
  DeviceMemoryBuffer(void* data, size_t size, DeviceAllocator* allocator, etensor::DeviceIndex index)
      : data_(data), size_(size), allocator_(allocator), index_(index) {}
  void swap(DeviceMemoryBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(allocator_, other.allocator_);
    std::swap(index_, other.index_);
  }

  void* data_ = nullptr;
  size_t size_ = 0;
  DeviceAllocator* allocator_ = nullptr;
  etensor::DeviceIndex index_ = 0;
};

}  // namespace executorch::runtime
