// SPDX-License-Identifier: BSD-3-Clause
// Transposed copies of matrices of elements of 1, 2, 4, 8 or 16 bytes, whatever these are:
//
//   to[j][i] = from[i][j]    for i < rows, j < columns
//
// Elements are side by side in each row; rows of `from` are from_stride bytes apart, those of `to`, of which
// there are `columns`, to_stride. Elements are aligned as their size asks, up to 8. The two do not overlap;
// nothing else is read or written.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

RL_UKERNEL(void, transpose,
           (size_t rows, size_t columns, size_t element, const char* from, ptrdiff_t from_stride, char* to,
            ptrdiff_t to_stride),
           (rows, columns, element, from, from_stride, to, to_stride))

// Copies rows of as many bytes each; distances of rows as above, of any alignment.
RL_UKERNEL(void, copy_rows,
           (size_t rows, size_t bytes, const char* from, ptrdiff_t from_stride, char* to,
            ptrdiff_t to_stride),
           (rows, bytes, from, from_stride, to, to_stride))

}  // namespace rushlight::ukernel
