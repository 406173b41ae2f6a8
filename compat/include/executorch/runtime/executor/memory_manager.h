// SPDX-License-Identifier: BSD-3-Clause
// The memory of a method.
#pragma once

#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/span.h>

namespace executorch::runtime {

// Without temporary memory, a method takes what it needs from the platform.
class MemoryManager final {
 public:
  explicit MemoryManager(MemoryAllocator* method_allocator, HierarchicalAllocator* planned_memory = nullptr,
                         MemoryAllocator* temp_allocator = nullptr)
      : method_allocator_(method_allocator),
        planned_memory_(planned_memory),
        temp_allocator_(temp_allocator) {
    ET_CHECK_MSG(method_allocator != temp_allocator,
                 "expected different allocators for the method and temporary memory");
  }
  ET_DEPRECATED MemoryManager(MemoryAllocator* constant_allocator,
                              HierarchicalAllocator* non_constant_allocator,
                              MemoryAllocator* runtime_allocator, MemoryAllocator* temporary_allocator)
      : MemoryManager(runtime_allocator, non_constant_allocator, temporary_allocator) {
    static_cast<void>(constant_allocator);
  }

  MemoryAllocator* method_allocator() const { return method_allocator_; }
  HierarchicalAllocator* planned_memory() const { return planned_memory_; }
  MemoryAllocator* temp_allocator() const { return temp_allocator_; }
  Span<const etensor::Device> planned_buffer_devices() const {
    if (planned_memory_ == nullptr) return {};
    return planned_memory_->planned_buffer_devices();
  }
  bool has_device_memory() const { return planned_buffer_devices().size() > 0; }

 private:
  MemoryAllocator* method_allocator_;
  HierarchicalAllocator* planned_memory_;
  MemoryAllocator* temp_allocator_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::MemoryManager;
}
