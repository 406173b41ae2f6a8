// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/transpose.h, for tests: elements of any size as bytes. Tests compare all
// bytes, also those between the rows of `to`, which must not change.
#pragma once

#include <cstddef>
#include <cstring>

namespace rushlight::ukernel::reference {

// Element (i, j) goes to (j, i); strides are in bytes from row to row.
inline void transpose(size_t rows, size_t columns, size_t element, const char* from, ptrdiff_t from_stride,
                      char* to, ptrdiff_t to_stride) {
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      std::memcpy(to + static_cast<ptrdiff_t>(j) * to_stride + i * element,
                  from + static_cast<ptrdiff_t>(i) * from_stride + j * element, element);
    }
  }
}

// Row by row; strides in bytes.
inline void copy_rows(size_t rows, size_t bytes, const char* from, ptrdiff_t from_stride, char* to,
                      ptrdiff_t to_stride) {
  for (size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<ptrdiff_t>(i);
    std::memcpy(to + row * to_stride, from + row * from_stride, bytes);
  }
}

// Element i comes from i elements before the last one.
inline void reverse(size_t n, size_t element, const char* last, char* to) {
  for (size_t i = 0; i < n; ++i) std::memcpy(to + i * element, last - i * element, element);
}

}  // namespace rushlight::ukernel::reference
