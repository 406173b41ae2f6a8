// SPDX-License-Identifier: BSD-3-Clause
// Elementwise sums and products of int8 over the rows of elementwise.h, with its rules for memory: two
// operands, rows.in[0] and rows.in[1], and rows.out, all int8; rows.number and rows.factor do not matter.
// quantized_sum.h, rescaled_sum.h and quantized_product.h define the functions and the ranges of their
// parameters. All variants give the same bits.
#pragma once

#include "kernels/ukernel/elementwise.h"
#include "kernels/ukernel/quantized_product.h"
#include "kernels/ukernel/quantized_sum.h"
#include "kernels/ukernel/rescaled_sum.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// The function objects are read once and may be on the caller's stack. A rescaled sum takes three rounded
// products an element; from 512 elements on, tables of 256 values replace the operands' two.
RL_UKERNEL_EXACT(void, add_int8, (const Rows& rows, const QuantizedSum& sum), (rows, sum))
RL_UKERNEL_EXACT(void, add_rescaled_int8, (const Rows& rows, const RescaledSum& sum), (rows, sum))
RL_UKERNEL_EXACT(void, multiply_int8_pairs, (const Rows& rows, const QuantizedProduct& product),
                 (rows, product))

}  // namespace rushlight::ukernel
