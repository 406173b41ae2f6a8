// SPDX-License-Identifier: BSD-3-Clause
// Memory from malloc that is kept, by its size, for the next who asks for as much. Any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::extension {

constexpr size_t kDefaultAlignment = 64;  // in the class this is MemoryAllocator's
constexpr size_t kCachingAllocatorDefaultAlignment = kDefaultAlignment;

class CPUCachingAllocator : public executorch::runtime::MemoryAllocator {
 public:
  // After a reset() at most `max_size` bytes are kept.
  explicit CPUCachingAllocator(uint32_t max_size);
  CPUCachingAllocator(const CPUCachingAllocator&) = delete;
  CPUCachingAllocator& operator=(const CPUCachingAllocator&) = delete;
  ~CPUCachingAllocator() override;

  // Null for an alignment that is no power of two, or when the system has no more.
  void* allocate(size_t size, size_t alignment = kCachingAllocatorDefaultAlignment) override;
  // What was allocated may be handed out again; above `max_size` bytes of it, all goes back to malloc.
  void reset() override;

 private:
  struct Block {
    void* data;
    size_t alignment;
  };

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<Block>> free_;  // by size
  std::vector<std::pair<size_t, Block>> used_;
  size_t max_size_;
  size_t bytes_ = 0;  // of both
};

}  // namespace executorch::extension
