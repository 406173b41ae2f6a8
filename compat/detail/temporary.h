// SPDX-License-Identifier: BSD-3-Clause
// Adapters between official allocators and rushlight's arenas.
#pragma once

#include <executorch/runtime/core/memory_allocator.h>

#include "compat/detail/tensor_mode.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

// Returns the memory that a scratch arena may use, aligned to 16: the rest of an allocator over memory; from
// other allocators, the largest block that they provide, from 16 MiB downwards by halves, to 1 KiB. Empty if
// there is none. The allocator's reset() frees it.
Span<uint8_t> take_block(executorch::runtime::MemoryAllocator& allocator);

// Scratch from the system for one kernel call, if the caller provided none. Reserves a range of addresses, of
// which only touched pages use memory, and releases it at the end: 4 GiB, or 256 MiB where size_t has 32
// bits, or less if the system refuses. For hosts; costs two system calls.
class SystemMemory {
 public:
  explicit SystemMemory(bool wanted);  // empty unless `wanted`
  SystemMemory(const SystemMemory&) = delete;
  SystemMemory& operator=(const SystemMemory&) = delete;
  ~SystemMemory();

  [[nodiscard]] Span<uint8_t> memory() const { return memory_; }

 private:
  Span<uint8_t> memory_;
};

// The scratch of rushlight's context, as an allocator for official kernels and backends. Memory lives until
// the kernel returns; reset() frees nothing. Null if it does not fit, or for an alignment that is not a power
// of two.
template <class Context>
class TemporaryOf final : public executorch::runtime::MemoryAllocator {
 public:
  explicit TemporaryOf(Context& context) : MemoryAllocator(0, nullptr), context_(context) {}

  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    return isPowerOf2(alignment) ? context_.allocate_temp(size, alignment) : nullptr;
  }

  // Only created on the stack. Declaring it keeps the virtual destructor from linking the heap's operator
  // delete.
  static void operator delete(void*) {}

 private:
  Context& context_;
};

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
