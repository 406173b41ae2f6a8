// SPDX-License-Identifier: BSD-3-Clause
// What a kernel may ask of the runtime while it runs.
#pragma once

#include "runtime/memory/arena.h"
#include "runtime/trace/scope.h"

namespace rushlight {

struct KernelEntry;

class KernelContext : public Traced {
 public:
  KernelContext() = default;
  explicit KernelContext(Arena* temporary, EventTracer* tracer = nullptr)
      : Traced(tracer), temporary_(temporary) {}
  // In a method: the entry that is called, and how many arguments the program gives it.
  KernelContext(Arena* temporary, EventTracer* tracer, const KernelEntry& kernel, size_t num_arguments)
      : Traced(tracer), temporary_(temporary), kernel_(&kernel), num_arguments_(num_arguments) {}

  // Scratch memory until the kernel returns; null when there is not enough.
  [[nodiscard]] void* allocate_temp(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return temporary_ == nullptr ? nullptr : temporary_->allocate(size, alignment);
  }

  // For functions that serve several entries; null and 0 outside of a method.
  [[nodiscard]] const KernelEntry* kernel() const { return kernel_; }
  [[nodiscard]] size_t num_arguments() const { return num_arguments_; }

 private:
  Arena* temporary_ = nullptr;
  const KernelEntry* kernel_ = nullptr;
  size_t num_arguments_ = 0;
};

}  // namespace rushlight
