// SPDX-License-Identifier: BSD-3-Clause
// An allocator over the platform's that frees everything at once.
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

class PlatformMemoryAllocator final : public MemoryAllocator {
 public:
  PlatformMemoryAllocator() : MemoryAllocator(0, nullptr) {}
  PlatformMemoryAllocator(const PlatformMemoryAllocator&) = delete;
  PlatformMemoryAllocator& operator=(const PlatformMemoryAllocator&) = delete;
  ~PlatformMemoryAllocator() override { free_all(); }

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

  void reset() override { free_all(); }

 private:
  struct Block {
    Block* next;
  };

  void free_all() {
    while (blocks_ != nullptr) {
      Block* next = blocks_->next;
      runtime::pal_free(blocks_);
      blocks_ = next;
    }
  }

  Block* blocks_ = nullptr;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
