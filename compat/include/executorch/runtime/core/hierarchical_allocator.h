// SPDX-License-Identifier: BSD-3-Clause
// The planned buffers of a method, in the order of their memory ids (id 1 of the program first). The exporter
// has assigned an offset in one of them to each tensor, so nothing is allocated at run time.
//
//   memory id 1  ->  buffers[0]    | tensor | tensor ... |
//   memory id 2  ->  buffers[1]    | tensor ... |
#pragma once

#include <c10/util/irange.h>
#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch::runtime {

// Only reads: it can be shared by methods that never execute at the same time, which then use the same
// memory. Planned state that a method keeps between executions (mutable buffers) must not be shared so.
class HierarchicalAllocator final {
 public:
  // `buffers`, the array and the memory, must outlive the allocator and its methods. Each buffer needs an
  // alignment of 16 bytes and the size that MethodMeta::memory_planned_buffer_size() says.
  explicit HierarchicalAllocator(Span<Span<uint8_t>> buffers) : buffers_(buffers) {}
  // The same with the device of each buffer. Aborts unless there are as many devices as buffers.
  HierarchicalAllocator(Span<Span<uint8_t>> buffers, Span<const etensor::Device> planned_buffer_devices)
      : buffers_(buffers), devices_(planned_buffer_devices) {
    ET_CHECK_MSG(devices_.size() == buffers_.size(),
                 "devices: got %zu, expected one for each of %zu planned buffers", devices_.size(),
                 buffers_.size());
  }
  // The older form: buffers are the memory of the allocators, at most 16, used from their start whatever they
  // have allocated. Aborts for more.
  ET_DEPRECATED HierarchicalAllocator(uint32_t n_allocators, MemoryAllocator* allocators) {
    ET_CHECK_MSG(n_allocators <= kSpanArraySize, "%" PRIu32 " allocators, expected at most %zu", n_allocators,
                 kSpanArraySize);
    for (uint32_t i = 0; i < n_allocators; ++i) {
      own_[i] = Span<uint8_t>(allocators[i].base_address(), size_t{allocators[i].size()});
    }
    buffers_ = Span<Span<uint8_t>>(own_, size_t{n_allocators});
  }
  // Not copyable, because it may hold a view of its storage.
  HierarchicalAllocator(const HierarchicalAllocator&) = delete;
  HierarchicalAllocator& operator=(const HierarchicalAllocator&) = delete;

  // The address of `size_bytes` bytes at an offset in a buffer. `memory_id` counts from 0 here. Repeated and
  // overlapping requests are valid: the plan lets tensors share memory. Errors: InvalidArgument (id,
  // overflow), MemoryAllocationFailed (beyond the buffer's end).
  ET_NODISCARD Result<void*> get_offset_address(uint32_t memory_id, size_t offset_bytes, size_t size_bytes) {
    size_t end = 0;
    ET_CHECK_OR_RETURN_ERROR(!c10::add_overflows(offset_bytes, size_bytes, &end), InvalidArgument,
                             "%zu bytes at offset %zu exceed the address space", size_bytes, offset_bytes);
    ET_CHECK_OR_RETURN_ERROR(memory_id < buffers_.size(), InvalidArgument,
                             "planned buffer %" PRIu32 " of %zu", memory_id, buffers_.size());
    const Span<uint8_t> buffer = buffers_[memory_id];
    ET_CHECK_OR_RETURN_ERROR(end <= buffer.size(), MemoryAllocationFailed,
                             "planned buffer %" PRIu32 ": got %zu bytes, expected %zu", memory_id,
                             buffer.size(), end);
    return static_cast<void*>(buffer.data() + offset_bytes);
  }

  // Empty if the constructor received none: all buffers are on the CPU.
  Span<const etensor::Device> planned_buffer_devices() const { return devices_; }

  // For rushlight's memory manager. Not part of the official API.
  Span<Span<uint8_t>> buffers() const { return buffers_; }

 private:
  // Storage for the older constructor only, which receives no array of buffers: then `buffers_` is a view of
  // it.
  static constexpr size_t kSpanArraySize = 16;

  Span<uint8_t> own_[kSpanArraySize];
  Span<Span<uint8_t>> buffers_;
  Span<const etensor::Device> devices_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::HierarchicalAllocator;
}
