// SPDX-License-Identifier: BSD-3-Clause
// The memory that a method uses. The caller provides and owns all of it; the executor allocates nothing else.
#pragma once

#include "runtime/base/span.h"
#include "runtime/memory/arena.h"

namespace rushlight {

class PreparedWeights;

// Example (one planned buffer):
//
//   Span<uint8_t> planned[] = {{arena_bytes, sizeof arena_bytes}};
//   MemoryManager memory{&method_arena, {planned, 1}, &temporary_arena};
struct MemoryManager {
  // Holds values, tensors and tables of the loaded method. Must live as long as the method.
  Arena* method = nullptr;
  // One span for each planned buffer of the method, in order (memory id 1 first). Each is at least as long as
  // the program requires (MethodMeta) and aligned to 16 bytes.
  Span<const Span<uint8_t>> planned;
  // Scratch of one kernel call; reset after each instruction. May be null if no kernel needs scratch.
  Arena* temporary = nullptr;
  // Cache of constants in kernel-specific layouts (runtime/kernel/prepared.h). May be null; several methods
  // may share it.
  PreparedWeights* prepared = nullptr;
};

}  // namespace rushlight
