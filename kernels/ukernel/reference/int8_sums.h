// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/int8_sums.h, bit-exact, for tests. Sums directly in 32 bits; variants with
// vectors first sum up to 255 elements in 16 bits.
#pragma once

#include "kernels/ukernel/int8_sums.h"

namespace rushlight::ukernel::reference {

// Adds to `sums`, which the test fills first.
inline void sum_int8(const Int8Windows& windows, const int8_t* in, int32_t* sums) {
  for (size_t i = 0; i < windows.count; ++i) {
    for (size_t r = 0; r < windows.rows; ++r) {
      for (size_t c = 0; c < windows.columns; ++c) {
        sums[i] += in[static_cast<ptrdiff_t>(i) * windows.lane + static_cast<ptrdiff_t>(r) * windows.row +
                      static_cast<ptrdiff_t>(c) * windows.column];
      }
    }
  }
}

// All sums belong to column 0: one scale.
inline void quantize_sums(const Requantization& to, size_t count, const int32_t* sums, int8_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<int8_t>(requantize(to, sums[i], 0));
}

}  // namespace rushlight::ukernel::reference
