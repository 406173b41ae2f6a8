// SPDX-License-Identifier: BSD-3-Clause
// Elements that index tensors name: where they are is computed, and checked, for a block of them before any
// is copied. An index is read once, as its memory may be shared.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels::host {

inline constexpr size_t kIndexBlock = 256;  // of a block

// Indices of int32 or int64, `stride` bytes apart, of elements that are `step` bytes apart. There are `size`
// of these; where it wraps, negative indices count from the end.
struct IndexRun {
  const char* data;
  ptrdiff_t stride;
  ScalarType type;
  ptrdiff_t size;
  ptrdiff_t step;
  bool wraps;
};

// Adds to n offsets, in bytes, where the elements are that indices from number `first` on name.
// InvalidArgument, naming index and bound, for one out of range.
Error add_index_offsets(const IndexRun& run, size_t first, size_t n, ptrdiff_t* offsets);

// n elements of `element` bytes, a power of two up to 16, to where `stride` bytes are between them.
void copy_at_offsets(size_t element, size_t n, const char* from, const ptrdiff_t* offsets, char* to,
                     ptrdiff_t stride);

// n elements of `element` bytes, as above: the i-th is the one that index i names, counted from
// `from` + i * `from_step` on, and goes to `to` + i * `to_step`. InvalidArgument, as above; then some may
// have been copied.
Error copy_named(const IndexRun& run, size_t element, size_t n, const char* from, ptrdiff_t from_step,
                 char* to, ptrdiff_t to_step);

}  // namespace rushlight::kernels::host
