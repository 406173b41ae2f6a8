// SPDX-License-Identifier: BSD-3-Clause
// A bump allocator: no header per block, no free(); reset() gives everything back at once.
#include "runtime/memory/arena.h"

#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight {

void* Arena::allocate(size_t size, size_t alignment) {
  // Aligns the address, not the offset: the caller's memory may begin anywhere.
  const auto base = reinterpret_cast<uintptr_t>(memory_.data());
  const size_t start = align_up(base + used_, alignment) - base;
  size_t end = 0;
  if (!checked_add(start, size, &end) || end > memory_.size()) {
    RL_RECORD_SHORTAGE(start + size, memory_.size());
    RL_LOG(Error, "arena of %lu bytes: %lu in use, %lu requested, %lu short",
           static_cast<unsigned long>(memory_.size()), static_cast<unsigned long>(used_),
           static_cast<unsigned long>(size), static_cast<unsigned long>(start + size - memory_.size()));
    return nullptr;
  }
  used_ = end;
  if (used_ > peak_) peak_ = used_;
  return memory_.data() + start;
}

}  // namespace rushlight
