// SPDX-License-Identifier: BSD-3-Clause
// An allocator over malloc that frees everything at once, by reset() or its destructor. For methods on hosts,
// where their size need not be known. base_address() is null and size() 0.
//
//   MallocMemoryAllocator method_memory, scratch;
//   MemoryManager memory(&method_memory, &planned, &scratch);
//   auto method = program->load_method("forward", &memory);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <executorch/extension/memory_allocator/memory_allocator_utils.h>
#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::extension {

// Not thread-safe.
class MallocMemoryAllocator : public executorch::runtime::MemoryAllocator {
 public:
  MallocMemoryAllocator() : MemoryAllocator(0, nullptr) {}
  MallocMemoryAllocator(const MallocMemoryAllocator&) = delete;
  MallocMemoryAllocator& operator=(const MallocMemoryAllocator&) = delete;
  ~MallocMemoryAllocator() override { free_all(); }

  // Memory of at least `size` bytes, not initialised. An alignment above malloc's takes up to `alignment` - 1
  // more bytes. Null, with a log entry, if `alignment` is not a power of two or malloc has no memory.
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override {
    if (!isPowerOf2(alignment)) {
      ET_LOG(Error, "alignment: expected a power of two, got %zu", alignment);
      return nullptr;
    }
    auto padded = utils::get_aligned_size(size, alignment);
    void* memory = padded.ok() ? std::malloc(*padded) : nullptr;
    if (memory == nullptr) {
      ET_LOG(Error, "out of memory: %zu bytes from malloc", size);
      return nullptr;
    }
    EXECUTORCH_TRACK_ALLOCATION(prof_id(), static_cast<uint32_t>(size));
    blocks_.push_back(memory);
    return alignPointer(memory, alignment);
  }

  // All pointers become invalid; the allocator can be used again.
  void reset() override { free_all(); }

 private:
  void free_all() {
    for (void* block : blocks_) std::free(block);
    blocks_.clear();
  }

  // As malloc returned them, in front of their alignment.
  std::vector<void*> blocks_;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::MallocMemoryAllocator;
}
