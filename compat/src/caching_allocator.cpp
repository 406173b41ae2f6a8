// SPDX-License-Identifier: BSD-3-Clause
// Free blocks in lists by exact size: a method requests the same sizes in each execution, so a search for the
// best fit would find the same blocks.
#include <algorithm>
#include <cstdlib>

#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>

namespace executorch::extension {

CPUCachingAllocator::CPUCachingAllocator(uint32_t max_size)
    : MemoryAllocator(0, nullptr), max_size_(max_size) {}

CPUCachingAllocator::~CPUCachingAllocator() {
  max_size_ = 0;
  reset();
}

void* CPUCachingAllocator::allocate(size_t size, size_t alignment) {
  if (!isPowerOf2(alignment)) {
    ET_LOG(Error, "alignment: expected a power of two, got %zu", alignment);
    return nullptr;
  }
  alignment = std::max(alignment, kCachingAllocatorDefaultAlignment);
  // The rounding below would overflow.
  if (size > SIZE_MAX - alignment) return nullptr;
  size = std::max((size + alignment - 1) & ~(alignment - 1), alignment);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& blocks = free_[size];
  const auto found = std::find_if(blocks.begin(), blocks.end(),
                                  [&](const Block& block) { return block.alignment >= alignment; });
  Block block{nullptr, alignment};
  if (found != blocks.end()) {
    block = *found;
    blocks.erase(found);
  } else {
    if (::posix_memalign(&block.data, alignment, size) != 0) {
      ET_LOG(Error, "out of memory: %zu bytes requested", size);
      return nullptr;
    }
    bytes_ += size;
  }
  used_.emplace_back(size, block);
  return block.data;
}

void CPUCachingAllocator::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [size, block] : used_) free_[size].push_back(block);
  used_.clear();
  // All or nothing: the next execution finds either all of its blocks or none.
  if (bytes_ <= max_size_ && max_size_ > 0) return;
  for (auto& [size, blocks] : free_) {
    for (const Block& block : blocks) std::free(block.data);
  }
  free_.clear();
  bytes_ = 0;
}

}  // namespace executorch::extension
