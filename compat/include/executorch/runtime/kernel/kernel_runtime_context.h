// SPDX-License-Identifier: BSD-3-Clause
// The services for an official kernel: scratch, a tracer, and its failure state.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

class KernelRuntimeContext {
 public:
  KernelRuntimeContext(EventTracer* event_tracer = nullptr, MemoryAllocator* temp_allocator = nullptr)
      : event_tracer_(event_tracer), temp_allocator_(temp_allocator) {}

  // Execution ends with this error after the kernel has returned.
  void fail(Error error) { failure_state_ = error; }
  ET_NODISCARD Error failure_state() const { return failure_state_; }

  EventTracer* internal_event_tracer() { return event_tracer_; }

  // Errors: NotFound (no allocator), MemoryAllocationFailed.
  Result<void*> allocate_temp(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment) {
    ET_CHECK_OR_RETURN_ERROR(temp_allocator_ != nullptr, NotFound,
                             "temporary memory: expected an allocator, got none");
    void* memory = temp_allocator_->allocate(size, alignment);
    ET_CHECK_OR_RETURN_ERROR(memory != nullptr, MemoryAllocationFailed,
                             "temporary memory: %zu bytes do not fit", size);
    return memory;
  }

  // For rushlight's kernels, called with this context.
  MemoryAllocator* temp_allocator() { return temp_allocator_; }

 private:
  EventTracer* event_tracer_;
  MemoryAllocator* temp_allocator_;
  Error failure_state_ = Error::Ok;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
using RuntimeContext = ::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
}  // namespace torch::executor

namespace executorch::aten {
using RuntimeContext = ::executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
}
