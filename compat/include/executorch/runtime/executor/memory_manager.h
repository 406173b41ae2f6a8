// SPDX-License-Identifier: BSD-3-Clause
// The memory of a method: the allocators and planned buffers that an application hands to
// Program::load_method(). The manager owns none of them.
//
//   alignas(16) static uint8_t method_memory[16384], planned[65536], scratch[8192];
//   MemoryAllocator method_allocator(sizeof method_memory, method_memory);
//   MemoryAllocator temp_allocator(sizeof scratch, scratch);
//   Span<uint8_t> buffers[] = {planned};    // one per planned buffer
//   HierarchicalAllocator planned_memory(buffers);
//   MemoryManager memory(&method_allocator, &planned_memory, &temp_allocator);
#pragma once

#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/span.h>

namespace executorch::runtime {

// A description that must outlive the method, as must everything that it names. One manager serves one method
// at a time.
//
// On hosts these allocators do not receive everything: packed weights, scratch of preparing them and the
// objects behind Program and Method come from the heap.
class MemoryManager final {
 public:
  // `method_allocator` (not null) has the method's values and tables, aligned to 16 bytes, and the memory of
  // its backends, as long as the method lives; MethodMeta::rushlight_meta().arena_bytes() is its size without
  // backends.
  //
  // `planned_memory` has the planned buffers, each aligned to 16 bytes and at least as large as MethodMeta
  // says; null for a program that plans none.
  //
  // `temp_allocator` is scratch: execute() takes all that it has left and calls reset() at the end, so
  // nothing else may live in it. Without one, a method takes scratch from the platform. Aborts if both
  // allocators are the same object, or both null.
  explicit MemoryManager(MemoryAllocator* method_allocator, HierarchicalAllocator* planned_memory = nullptr,
                         MemoryAllocator* temp_allocator = nullptr)
      : method_allocator_(method_allocator),
        planned_memory_(planned_memory),
        temp_allocator_(temp_allocator) {
    ET_CHECK_MSG(method_allocator != temp_allocator,
                 "expected different allocators for the method and temporary memory");
  }
  // The older form. `constant_allocator` is ignored: constants stay in the program.
  ET_DEPRECATED MemoryManager(MemoryAllocator* constant_allocator,
                              HierarchicalAllocator* non_constant_allocator,
                              MemoryAllocator* runtime_allocator, MemoryAllocator* temporary_allocator)
      : MemoryManager(runtime_allocator, non_constant_allocator, temporary_allocator) {
    static_cast<void>(constant_allocator);
  }

  // The arguments of the constructor.
  MemoryAllocator* method_allocator() const { return method_allocator_; }
  HierarchicalAllocator* planned_memory() const { return planned_memory_; }
  MemoryAllocator* temp_allocator() const { return temp_allocator_; }
  // The device of each planned buffer; empty if all are on the CPU. rushlight computes on the CPU only, and
  // refuses methods with planned memory elsewhere.
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
