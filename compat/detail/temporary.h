// SPDX-License-Identifier: BSD-3-Clause
// Between official allocators and rushlight's arenas.
#pragma once

#include <executorch/runtime/core/memory_allocator.h>

#include "runtime/base/span.h"
#include "runtime/kernel/context.h"

namespace rushlight::compat {

// What an arena for scratch may use: all that is left of an allocator over memory, and of one that finds
// memory elsewhere as much as it gives, from 16 MB downwards. Empty when there is none.
Span<uint8_t> take_block(executorch::runtime::MemoryAllocator& allocator);

// Scratch memory of the system for one call of a kernel, where nobody brought any: a range of addresses,
// given back at the end, of which only the pages that the kernel touches cost memory. For hosts.
class SystemMemory {
 public:
  explicit SystemMemory(bool wanted);  // empty where it is not wanted
  SystemMemory(const SystemMemory&) = delete;
  SystemMemory& operator=(const SystemMemory&) = delete;
  ~SystemMemory();

  [[nodiscard]] Span<uint8_t> memory() const { return memory_; }

 private:
  Span<uint8_t> memory_;
};

// The temporary memory of rushlight's context, for official kernels and backends.
template <class Context>
class TemporaryOf final : public executorch::runtime::MemoryAllocator {
 public:
  explicit TemporaryOf(Context& context) : MemoryAllocator(0, nullptr), context_(context) {}

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    return isPowerOf2(alignment) ? context_.allocate_temp(size, alignment) : nullptr;
  }

  // It lives in functions; with one of its own, a virtual destructor does not bring the heap's.
  static void operator delete(void*) {}

 private:
  Context& context_;
};

}  // namespace rushlight::compat
