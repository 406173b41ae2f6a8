// SPDX-License-Identifier: BSD-3-Clause
// Sizes for allocators over malloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::utils {

// The size to request from malloc for `size` bytes of this alignment, a power of two: malloc aligns to
// max_align_t, so a larger alignment takes up to `alignment` - 1 more bytes. Error: InvalidArgument
// (overflow).
inline runtime::Result<size_t> get_aligned_size(size_t size, size_t alignment) {
  if (alignment <= alignof(std::max_align_t)) return size;
  size_t padded = 0;
  ET_CHECK_OR_RETURN_ERROR(!__builtin_add_overflow(size, alignment - 1, &padded), InvalidArgument,
                           "%zu bytes aligned to %zu exceed the address space", size, alignment);
  return padded;
}

}  // namespace executorch::extension::utils
