// SPDX-License-Identifier: BSD-3-Clause
// Softmax in integer arithmetic: dequantize, softmax and quantize fused, without floats.
//
// The table holds exp(-d * input scale) in fixed point for d = 0 to 255, where d is the difference from the
// largest element of a row. For int16, whose differences have 16 bits, it is followed by exp(-256 d * input
// scale), and an exponential is the product of two entries, rounded to the table's 30 bits. Sums have 64
// bits, so rows may have any length. One 64-bit division for each row computes the scale 1 / (output scale *
// sum), which requantizes each exponential with one rounding.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/walk/paired_fibers.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// Softmax along fibers of int8, uint8 or int16, `type` being the dtype of both tensors. `to` has one
// fixed-point multiplier and shift, for 1 / output scale. The table has 256 entries, or 512 for int16.
// InvalidType if no selected operator has the dtype. Three passes over each fiber; no scratch memory.
Error softmax_integers(const PairedFibers& fibers, ScalarType type, const int32_t* table,
                       const ukernel::Requantization& to);

// Fills a table of 256 entries for an input scale of multiplier * 2^exponent, where multiplier >= 1 and the
// scale is below 2^15: exp(-d * scale) * 2^30, rounded to nearest. Uses 64-bit integers, so that every
// processor computes the same bits: exp(-scale) by its Taylor series after halving the scale until it is
// small, then powers of that. Cost: about 10,000 instructions with a 32-bit multiplier.
void fill_exponentials(int32_t multiplier, int exponent, int32_t* table);

}  // namespace rushlight::kernels
