// SPDX-License-Identifier: BSD-3-Clause
// What the loaders of files share.
#pragma once

#include "runtime/program/data_loader.h"

namespace rushlight {

// `size` bytes at `offset` of an open file, in memory of their own at a multiple of 16. Errors:
// MemoryAllocationFailed, AccessFailed (it cannot be read, or has become shorter).
[[nodiscard]] Result<FreeableBuffer> read_part(int file, size_t offset, size_t size);

}  // namespace rushlight
