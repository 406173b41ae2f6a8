// SPDX-License-Identifier: BSD-3-Clause
// Sums of int8, over rows as in elementwise.h; quantized_sum.h says which. All variants make the same bits.
#pragma once

#include "kernels/ukernel/elementwise.h"
#include "kernels/ukernel/quantized_sum.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

RL_UKERNEL_EXACT(void, add_int8, (const Rows& rows, const QuantizedSum& sum), (rows, sum))

}  // namespace rushlight::ukernel
