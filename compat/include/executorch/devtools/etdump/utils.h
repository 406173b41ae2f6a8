// SPDX-License-Identifier: BSD-3-Clause
// Alignment of the memory of a dump.
#pragma once

#include <cstddef>
#include <cstdint>

namespace executorch::etdump::internal {

// Rounds `ptr` up to a multiple of `alignment`, a power of two.
inline uint8_t* align_pointer(void* ptr, size_t alignment) {
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  return reinterpret_cast<uint8_t*>((address + alignment - 1) & ~(uintptr_t{alignment} - 1));
}

}  // namespace executorch::etdump::internal
