// SPDX-License-Identifier: BSD-3-Clause
// Initialises the official writer's memory, for code that calls it. rushlight's writer
// (runtime/trace/etdump.h) needs no such step.
#pragma once

#include <cstdint>
#include <cstdlib>

#include <executorch/devtools/etdump/etdump_flatcc.h>

typedef struct flatcc_builder flatcc_builder_t;

namespace executorch::etdump::internal {

// Returns 0 if there is memory, otherwise -1.
inline int etdump_flatcc_custom_init(flatcc_builder_t*, ETDumpStaticAllocator* alloc) {
  return alloc != nullptr && alloc->data != nullptr ? 0 : -1;
}

}  // namespace executorch::etdump::internal
