// SPDX-License-Identifier: BSD-3-Clause
// What a kernel may ask of the runtime while it runs.
#pragma once

#include "runtime/memory/arena.h"
#include "runtime/trace/scope.h"

namespace rushlight {

class KernelContext : public Traced {
 public:
  KernelContext() = default;
  explicit KernelContext(Arena* temporary, EventTracer* tracer = nullptr)
      : Traced(tracer), temporary_(temporary) {}

  // Scratch memory until the kernel returns; null when there is not enough.
  [[nodiscard]] void* allocate_temp(size_t size, size_t alignment = Arena::kDefaultAlignment) {
    return temporary_ == nullptr ? nullptr : temporary_->allocate(size, alignment);
  }

 private:
  Arena* temporary_ = nullptr;
};

}  // namespace rushlight
