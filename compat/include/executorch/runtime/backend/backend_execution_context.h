// SPDX-License-Identifier: BSD-3-Clause
// The services for one execution of a delegate: scratch, a tracer, and the method's name.
//
//   auto* sums = static_cast<float*>(context.allocate(n * sizeof(float), alignof(float)));
//   if (sums == nullptr) return Error::MemoryAllocationFailed;
#pragma once

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Passed to a backend's execute(), and valid during that call only. A method always passes temporary memory;
// the tracer is null unless load_method() was given one.
class BackendExecutionContext final {
 public:
  // For backends' tests. Nothing is owned; every pointer may be null, but allocate() needs an allocator.
  BackendExecutionContext(EventTracer* event_tracer = nullptr, MemoryAllocator* temp_allocator = nullptr,
                          const char* method_name = nullptr)
      : method_name_(method_name), scratch_(temp_allocator), tracer_(event_tracer) {}

  // The application's tracer, or null. Pass it to the functions of core/event_tracer_hooks_delegate.h, which
  // accept null.
  EventTracer* event_tracer() { return tracer_; }
  // Allocates memory that lives until execute() returns; null if it does not fit, or if `alignment` is not a
  // power of two. Precondition: get_temp_allocator() is not null. The memory is the MemoryManager's temporary
  // allocator's; without one, the platform's; or the heap's if the method's kernels need more scratch than
  // that provides.
  void* allocate(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment) {
    MemoryAllocator& scratch = *get_temp_allocator();
    return scratch.allocate(size, alignment);
  }
  // Null only if the constructor received null. In a method it serves one call: reset() does not recycle its
  // memory.
  MemoryAllocator* get_temp_allocator() { return scratch_; }
  // The method that executes, for example "forward"; valid as long as the program.
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
