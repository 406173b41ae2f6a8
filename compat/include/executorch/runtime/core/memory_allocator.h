// SPDX-License-Identifier: BSD-3-Clause
// A bump allocator over memory of the caller: allocate() advances a pointer, and reset() frees all.
// Applications may derive from it (extension/memory_allocator has two for hosts).
//
//   base_address | padding | allocation | padding | allocation | free_size() bytes |
#pragma once

#include <cinttypes>

#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/profiler.h>

namespace executorch::runtime {

// Not thread-safe. Runs no constructors or destructors. It must outlive all code that keeps pointers into it.
class MemoryAllocator {
 public:
  // The alignment of a pointer. A Method asks for 16 bytes.
  static constexpr size_t kDefaultAlignment = alignof(void*);

  // Uses `size` bytes at `base_address`, which must outlive the allocator; at most 4 GB less a byte. Derived
  // classes with other memory pass 0 and null. Aborts for null with a size, or if the bytes exceed the
  // address space.
  MemoryAllocator(uint32_t size, uint8_t* base_address)
      : begin_(base_address), current_(base_address), size_(base_address == nullptr ? 0 : size) {
    ET_CHECK_MSG(base_address != nullptr || size == 0, "%" PRIu32 " bytes at a null address", size);
    ET_CHECK_MSG(size <= UINTPTR_MAX - reinterpret_cast<uintptr_t>(base_address),
                 "%" PRIu32 " bytes exceed the address space", size);
  }
  virtual ~MemoryAllocator() = default;

  // Returns `size` uninitialised bytes; null, with a log line, if they do not fit or `alignment` is not a
  // power of two. Costs O(1). Derived classes override it, and must return null rather than abort.
  virtual void* allocate(size_t size, size_t alignment = kDefaultAlignment) {
    if (begin_ == nullptr) {
      ET_LOG(Error, "allocator without memory: %zu bytes requested", size);
      return nullptr;
    }
    if (!isPowerOf2(alignment)) {
      ET_LOG(Error, "alignment: expected a power of two, got %zu", alignment);
      return nullptr;
    }
    uint8_t* start = alignPointer(current_, alignment);
    const auto padding = static_cast<size_t>(start - current_);
    const size_t available = free_size();
    if (padding > available || size > available - padding) {
      ET_LOG(Error, "out of memory: %zu bytes requested, %zu free, %zu of them lost to alignment", size,
             available, padding);
      return nullptr;
    }
    EXECUTORCH_TRACK_ALLOCATION(prof_id_, static_cast<uint32_t>(padding + size));
    current_ = start + size;
    return start;
  }

  // Uninitialised memory for one object, or null: the caller constructs it, and destroys it before reset().
  template <class T>
  T* allocateInstance(size_t alignment = alignof(T)) {
    return static_cast<T*>(this->allocate(sizeof(T), alignment));
  }

  // Uninitialised memory for `size` objects; null also if their size in bytes overflows.
  template <class T>
  T* allocateList(size_t size, size_t alignment = alignof(T)) {
    size_t bytes = 0;
    if (c10::mul_overflows(size, sizeof(T), &bytes)) {
      ET_LOG(Error, "%zu objects of %zu bytes exceed the address space", size, sizeof(T));
      return nullptr;
    }
    return static_cast<T*>(this->allocate(bytes, alignment));
  }

  // The start of the memory. Derived classes that pass no memory have null, from which the runtime recognises
  // them: it then asks for blocks of decreasing size.
  virtual uint8_t* base_address() const { return begin_; }
  // All bytes; those in use, with those lost to alignment; and the rest.
  virtual uint32_t size() const { return size_; }
  virtual size_t used_size() const { return static_cast<size_t>(current_ - begin_); }
  virtual size_t free_size() const { return size_ - used_size(); }

  // Frees everything. Pointers from allocate() become invalid.
  virtual void reset() { current_ = begin_; }

  // Records later allocations under this name, in builds with PROFILING_ENABLED (platform/profiler.h).
  void enable_profiling(ET_UNUSED const char* name) { prof_id_ = EXECUTORCH_TRACK_ALLOCATOR(name); }

 protected:
  // For derived classes: the profiler's id, or -1 without profiling.
  int32_t prof_id() const { return prof_id_; }

  // False for 0.
  static constexpr bool isPowerOf2(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

  // Rounds an address up; `alignment` must be a power of two.
  static uint8_t* alignPointer(void* pointer, size_t alignment) {
    const uintptr_t mask = alignment - 1;
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(pointer) + mask) & ~mask);
  }

 private:
  // The memory, the first byte behind the last allocation, and the memory's size. Constant but for the
  // second, which reset() moves back.
  uint8_t* const begin_;
  uint8_t* current_;
  const uint32_t size_;
  int32_t prof_id_ = -1;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::MemoryAllocator;
}
