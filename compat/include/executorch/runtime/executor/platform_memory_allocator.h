// SPDX-License-Identifier: BSD-3-Clause
// An allocator over the platform's that frees everything at once. A Method takes scratch from it if the
// MemoryManager has no temporary allocator.
//
//   pal_allocate():  | next | padding | size bytes |      next leads to the allocation before
#pragma once

#include <cinttypes>
#include <cstdint>

#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>
#include <stdio.h>

namespace executorch::ET_RUNTIME_NAMESPACE::internal {

// Each allocation is one pal_allocate(), linked into a list: allocate() costs O(1) beside the platform's,
// reset() O(allocations). Not a bump allocator: base_address() is null, the sizes are 0. Not thread-safe.
class PlatformMemoryAllocator final : public MemoryAllocator {
 public:
  PlatformMemoryAllocator() : MemoryAllocator(0, nullptr) {}
  PlatformMemoryAllocator(const PlatformMemoryAllocator&) = delete;
  PlatformMemoryAllocator& operator=(const PlatformMemoryAllocator&) = delete;
  // Returns all memory to the platform.
  ~PlatformMemoryAllocator() override { free_all(); }

  // Takes the size, a pointer and `alignment` - 1 bytes from the platform. Null, with a log line, if the
  // alignment is not a power of two or the platform has no memory; null if the sum exceeds the address space.
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    if (!isPowerOf2(alignment)) {
      ET_LOG(Error, "alignment: expected a power of two, got %zu", alignment);
      return nullptr;
    }
    size_t total = 0;
    if (c10::add_overflows(sizeof(Block) + alignment - 1, size, &total)) return nullptr;
    auto* block = static_cast<Block*>(runtime::pal_allocate(total));
    if (block == nullptr) {
      ET_LOG(Error, "out of memory: %zu bytes from the platform", total);
      return nullptr;
    }
    block->next = blocks_;
    blocks_ = block;
    return alignPointer(block + 1, alignment);
  }

  // Returns all memory to the platform; pointers from allocate() become invalid.
  void reset() override { free_all(); }

 private:
  // Precedes the caller's memory; padding for the alignment lies in between.
  struct Block {
    Block* next;
  };

  // In reverse order of allocation.
  void free_all() {
    while (blocks_ != nullptr) {
      Block* next = blocks_->next;
      runtime::pal_free(blocks_);
      blocks_ = next;
    }
  }

  // The last allocation; null if there is none.
  Block* blocks_ = nullptr;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
