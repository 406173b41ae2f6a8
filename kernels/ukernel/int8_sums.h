// SPDX-License-Identifier: BSD-3-Clause
// Sums of int8 over windows, for means and average pools: over adjacent channels, whose windows are one
// element apart (channels-last), over adjacent windows of a row, which are a pool stride apart, or over whole
// planes.
//
//   sum_int8(...)       sums[i] += sum over r < rows, c < columns of in[i * lane + r * row + c * column]
//   quantize_sums(...)  out[i] = quantized(sums[i]), by column 0
//
// for i < count. Sums have 32 bits; the caller ensures that they fit. quantized() is requantize() of
// requantize.h.
//
// Memory: accesses only the described elements; alignment of the element types; results overlap no operand.
// All variants give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct Int8Windows {
  size_t count = 0;    // sums; like rows and columns any number
  size_t rows = 0;     // in a window
  size_t columns = 0;  // in a window
  ptrdiff_t lane = 0;  // in elements, from the window of one sum to the next
  ptrdiff_t row = 0;
  ptrdiff_t column = 0;
};
RL_UKERNEL_EXACT(void, sum_int8, (const Int8Windows& windows, const int8_t* in, int32_t* sums),
                 (windows, in, sums))

RL_UKERNEL_EXACT(void, quantize_sums,
                 (const Requantization& to, size_t count, const int32_t* sums, int8_t* out),
                 (to, count, sums, out))

}  // namespace rushlight::ukernel
