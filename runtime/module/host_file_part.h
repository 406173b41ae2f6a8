// SPDX-License-Identifier: BSD-3-Clause
// Reading parts of files, shared by the loaders of files.
#pragma once

#include "runtime/program/data_loader.h"

namespace rushlight {

// Reads `size` bytes at `offset` of an open file into new memory, aligned to 16 bytes. Errors:
// MemoryAllocationFailed, AccessFailed (cannot be read, or the file was truncated).
[[nodiscard]] Result<FreeableBuffer> read_part(int file, size_t offset, size_t size);

}  // namespace rushlight
