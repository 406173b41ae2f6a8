// SPDX-License-Identifier: BSD-3-Clause
// Softmax of integers: dequantize, softmax and quantize in one, without a float.
//
// The table has exp(-d * input scale) in fixed point for d = 0 to 255, the distance from the largest number
// of a row. Of int16, whose distances have 16 bits, it has exp(-256 d * input scale) behind, and an
// exponential is the product of two, rounded to the table's 30 bits. Sums have 64 bits: rows may have any
// length. One division of 64 bits a row makes the scale 1 / (output scale * sum), which requantizes each
// element's exponential with one rounding.
#pragma once

#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "kernels/walk/paired_fibers.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// `type` is that of both tensors. `to` has one multiplier and shift, of fixed point: those of 1 / output
// scale. InvalidType for a dtype that no selected operator has.
Error softmax_integers(const PairedFibers& fibers, ScalarType type, const int32_t* table,
                       const ukernel::Requantization& to);

// Fills a table of 256 for an input scale of multiplier * 2^exponent, multiplier from 1 on and the scale
// below 2^15: exp(-d * scale) * 2^30, rounded to the nearest. In integers of 64 bits, so that it is the same
// on each processor: about 10,000 instructions where a product of 32 bits is one.
void fill_exponentials(int32_t multiplier, int exponent, int32_t* table);

}  // namespace rushlight::kernels
