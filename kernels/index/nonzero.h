// SPDX-License-Identifier: BSD-3-Clause
// Enumeration of nonzero elements of any dtype by their bits, with a loop for each width instead of each
// dtype.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Writes 1 for each of n elements that is not zero, 0 for others. For floating values the sign bit is
// ignored, so -0.0 is zero and NaN is not. A complex element is nonzero if one of its parts is. `stride` in
// bytes.
void find_set(const char* source, ptrdiff_t stride, ScalarType type, size_t n, uint8_t* set);

// The number of nonzero elements.
size_t count_set(const Tensor& self);

// Writes the indices of the first nonzero elements in row-major order, at most `most`, each to a row of
// `out`, which is int64 and has a column for each dimension. Returns the number of rows.
size_t write_set(const Tensor& self, size_t most, const Tensor& out);

}  // namespace rushlight::kernels
