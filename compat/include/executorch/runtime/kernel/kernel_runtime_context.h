// SPDX-License-Identifier: BSD-3-Clause
// The services for an official kernel: scratch, a tracer, and its failure state.
//
//   Result<void*> scratch = context.allocate_temp(count * sizeof(float), alignof(float));
//   if (!scratch.ok()) {
//     context.fail(scratch.error());
//     return out;
//   }
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// One object serves one call of a kernel and is not thread-safe. Tests create one without arguments; methods
// pass one whose scratch is the MemoryManager's temporary memory.
class KernelRuntimeContext {
 public:
  // Nothing is owned. Without `temp_allocator`, allocate_temp() fails, but rushlight's own kernels take their
  // scratch from the system.
  KernelRuntimeContext(EventTracer* event_tracer = nullptr, MemoryAllocator* temp_allocator = nullptr)
      : event_tracer_(event_tracer), temp_allocator_(temp_allocator) {}

  // Records a failure: execution ends with this error after the kernel has returned. The kernel must return
  // itself, with its output as the result. A later call replaces the error.
  void fail(Error error) { failure_state_ = error; }
  // Ok unless fail() was called.
  ET_NODISCARD Error failure_state() const { return failure_state_; }

  // Null in a method: events of operators are recorded by the executor, not by kernels.
  EventTracer* internal_event_tracer() { return event_tracer_; }

  // Scratch for this call: at least `size` bytes, not initialised. A method releases it when the kernel
  // returns; a context of your own keeps it until you reset the allocator. `alignment` is a power of two.
  // Errors: NotFound (no allocator), MemoryAllocationFailed (too large, or an invalid alignment).
  Result<void*> allocate_temp(size_t size, size_t alignment = MemoryAllocator::kDefaultAlignment) {
    ET_CHECK_OR_RETURN_ERROR(temp_allocator_ != nullptr, NotFound,
                             "temporary memory: expected an allocator, got none");
    void* memory = temp_allocator_->allocate(size, alignment);
    ET_CHECK_OR_RETURN_ERROR(memory != nullptr, MemoryAllocationFailed,
                             "temporary memory: %zu bytes do not fit", size);
    return memory;
  }

  // For rushlight's kernels, called with this context. May be null.
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
