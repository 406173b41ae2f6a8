// SPDX-License-Identifier: BSD-3-Clause
// How the official writer reserves its memory. rushlight's writer (runtime/trace/etdump.h) needs no such
// step: the memory is taken as it is set.
#pragma once

#include <cstdint>
#include <cstdlib>

#include <executorch/devtools/etdump/etdump_flatcc.h>

typedef struct flatcc_builder flatcc_builder_t;

namespace executorch::etdump::internal {

// 0 where there is memory, -1 otherwise.
inline int etdump_flatcc_custom_init(flatcc_builder_t*, ETDumpStaticAllocator* alloc) {
  return alloc != nullptr && alloc->data != nullptr ? 0 : -1;
}

}  // namespace executorch::etdump::internal
