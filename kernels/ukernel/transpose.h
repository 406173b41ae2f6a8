// SPDX-License-Identifier: BSD-3-Clause
// Copies that change the order of elements. Transposed copies of matrices with elements of 1, 2, 4, 8 or 16
// bytes of any type:
//
//   to[j][i] = from[i][j]    for i < rows, j < columns
//
// The elements of a row are contiguous. Rows of `from` are from_stride bytes apart, the `columns` rows of
// `to` to_stride bytes. Elements are aligned to their size, up to 8 bytes. The arrays do not overlap;
// accesses only the described elements.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

RL_UKERNEL(void, transpose,
           (size_t rows, size_t columns, size_t element, const char* from, ptrdiff_t from_stride, char* to,
            ptrdiff_t to_stride),
           (rows, columns, element, from, from_stride, to, to_stride))

// Copies rows of `bytes` bytes each. Strides are in bytes and need no alignment.
RL_UKERNEL(void, copy_rows,
           (size_t rows, size_t bytes, const char* from, ptrdiff_t from_stride, char* to,
            ptrdiff_t to_stride),
           (rows, bytes, from, from_stride, to, to_stride))

// Copies n elements of 1, 2, 4 or 8 bytes, any type, in reverse order: `last` is the last one of the source.
RL_UKERNEL(void, reverse, (size_t n, size_t element, const char* last, char* to), (n, element, last, to))

}  // namespace rushlight::ukernel
