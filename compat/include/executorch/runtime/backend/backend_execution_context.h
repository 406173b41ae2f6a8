// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Passed to a backend's execute().
class BackendExecutionContext final {
 public:
  BackendExecutionContext(EventTracer* event_tracer = nullptr, MemoryAllocator* temp_allocator = nullptr,
                          const char* method_name = nullptr)
      : method_name_(method_name), scratch_(temp_allocator), tracer_(event_tracer) {}

  EventTracer* event_tracer() { return tracer_; }
  // Allocates memory that lives until execute() returns; null if it does not fit.
  void* allocate(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment) {
    MemoryAllocator& scratch = *get_temp_allocator();
    return scratch.allocate(size, alignment);
  }
  MemoryAllocator* get_temp_allocator() { return scratch_; }
  const char* get_method_name() const { return method_name_; }

 private:
  const char* method_name_;
  MemoryAllocator* scratch_;
  EventTracer* tracer_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::BackendExecutionContext;
}
