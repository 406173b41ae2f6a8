// SPDX-License-Identifier: BSD-3-Clause
// Gather by index tensors: offsets are computed and checked for a block of indices before any element is
// copied. Each index is read once, because hostile programs may alias its memory.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels::host {

inline constexpr size_t kIndexBlock = 256;  // indices in a block

// A span of int32 or int64 indices, `stride` bytes apart, into `size` elements that are `step` bytes apart.
// With `wraps`, negative indices count from the end; without it they are out of range.
struct IndexSpan {
  const char* data;
  ptrdiff_t stride;
  ScalarType type;
  ptrdiff_t size;
  ptrdiff_t step;
  bool wraps;
};

// Adds to each of n offsets the byte offset that index first + i selects. InvalidArgument, naming index and
// bound, if one is out of range.
Error add_index_offsets(const IndexSpan& run, size_t first, size_t n, ptrdiff_t* offsets);

// Copies n elements of `element` bytes (a power of two up to 16): from `from` + offsets[i] to `to` + i *
// `stride`. The offsets have been checked by add_index_offsets().
void copy_at_offsets(size_t element, size_t n, const char* from, const ptrdiff_t* offsets, char* to,
                     ptrdiff_t stride);

// Copies n elements of `element` bytes: the element that index i selects, counted from `from` + i *
// `from_step`, to `to` + i * `to_step`. Each index is checked just before its element is copied.
// InvalidArgument as above; some elements may have been copied by then.
Error copy_named(const IndexSpan& run, size_t element, size_t n, const char* from, ptrdiff_t from_step,
                 char* to, ptrdiff_t to_step);

}  // namespace rushlight::kernels::host
