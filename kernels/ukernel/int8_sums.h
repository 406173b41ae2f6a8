// SPDX-License-Identifier: BSD-3-Clause
// Sums of int8 over windows, for means and average pools: of neighbouring channels, whose windows lie one
// element apart (channels last), of neighbouring windows of a row, which lie as far apart as windows step, or
// of whole planes.
//
//   sum_int8(...)       sums[i] += sum over r < rows, c < columns of in[i * lane + r * row + c * column]
//   quantize_sums(...)  out[i] = quantized(sums[i]), by column 0
//
// for i < count. Sums have 32 bits; the caller knows that none overflows. See requantize.h for what
// quantized() is.
//
// Promises: nothing is read or written but what is described, nothing needs more alignment than its type. All
// variants make the same bits. Results overlap nothing that is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct Int8Windows {
  size_t count = 0;    // any number, as are the next two
  size_t rows = 0;     // of a window
  size_t columns = 0;  // of a window
  ptrdiff_t lane = 0;  // from one sum's window to the next one's
  ptrdiff_t row = 0;
  ptrdiff_t column = 0;
};
RL_UKERNEL_EXACT(void, sum_int8, (const Int8Windows& windows, const int8_t* in, int32_t* sums),
                 (windows, in, sums))

RL_UKERNEL_EXACT(void, quantize_sums,
                 (const Requantization& to, size_t count, const int32_t* sums, int8_t* out),
                 (to, count, sums, out))

}  // namespace rushlight::ukernel
