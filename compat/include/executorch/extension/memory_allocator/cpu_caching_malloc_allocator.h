// SPDX-License-Identifier: BSD-3-Clause
// An allocator over malloc that keeps freed blocks, by size, for reuse: as temporary memory it avoids malloc
// and page faults in each execution. Thread-safe.
//
//   CPUCachingAllocator scratch(64u << 20);
//   MemoryManager memory(&method_memory, &planned, &scratch);
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::extension {

constexpr size_t kDefaultAlignment = 64;  // the member is MemoryAllocator's
constexpr size_t kCachingAllocatorDefaultAlignment = kDefaultAlignment;

class CPUCachingAllocator : public executorch::runtime::MemoryAllocator {
 public:
  // After a reset(), at most `max_size` bytes are kept; 0 keeps none.
  explicit CPUCachingAllocator(uint32_t max_size);
  CPUCachingAllocator(const CPUCachingAllocator&) = delete;
  CPUCachingAllocator& operator=(const CPUCachingAllocator&) = delete;
  ~CPUCachingAllocator() override;

  // A block of at least 64 bytes, its size rounded up to a multiple of `alignment`, which is at least 64.
  // Reuses a free block of exactly this size if it is aligned as much. Returns null if the alignment is not a
  // power of two, or the system has no memory.
  void* allocate(size_t size, size_t alignment = kCachingAllocatorDefaultAlignment) override;
  // Makes all allocated blocks reusable; if they exceed `max_size` bytes, returns everything to malloc.
  void reset() override;

 private:
  // Memory from posix_memalign, with the alignment that it was requested for.
  struct Block {
    void* data;
    size_t alignment;
  };

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<Block>> free_;  // by size
  std::vector<std::pair<size_t, Block>> used_;
  size_t max_size_;
  size_t bytes_ = 0;  // total of both
};

}  // namespace executorch::extension
