// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices for cores without wide vectors and with little memory: blocked, with a panel
// of the right factor on the stack, so no scratch memory is needed.
#pragma once

#include "kernels/matmul/matmul.h"

namespace rushlight::kernels::board {

// out = alpha a b + beta bias, as multiply() of kernels/matmul, for float32 and, where an operator of the
// build has it, float16. Returns Error::Ok always.
Error multiply_small(const Product& product);

// The same for float32. Copies the right factor to a panel on the stack, a part at a time. `width` is the
// number of columns that the memory of `out` has, if that is more than the product has: those behind them may
// be overwritten, and no tile of sums is copied.
void multiply_floats(const Product& product, size_t width = 0);

}  // namespace rushlight::kernels::board
