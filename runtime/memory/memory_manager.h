// SPDX-License-Identifier: BSD-3-Clause
// The memory a method runs in, all of it given by the caller.
#pragma once

#include "runtime/base/span.h"
#include "runtime/memory/arena.h"

namespace rushlight {

class PreparedWeights;

struct MemoryManager {
  // Values, tensors and tables of the loaded method; alive as long as the method.
  Arena* method = nullptr;
  // One span per planned buffer of the method, in order (memory id 1 first), each at least as long
  // as the program asks for and aligned to 16 bytes.
  Span<const Span<uint8_t>> planned;
  // Scratch of one kernel call, reset after each instruction; may be null.
  Arena* temporary = nullptr;
  // Where kernels prepare constants, see runtime/kernel/prepared.h; may be null, and serve other methods.
  PreparedWeights* prepared = nullptr;
};

}  // namespace rushlight
