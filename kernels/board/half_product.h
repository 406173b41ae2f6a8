// SPDX-License-Identifier: BSD-3-Clause
// Products of float16 matrices for cores that compute in float32: blocks of both factors are converted on the
// stack, and sums are rounded once.
#pragma once

#include "kernels/matmul/matmul.h"

namespace rushlight::kernels::board {

// out = alpha a b + beta bias, as multiply() of kernels/matmul, for float16. `alpha` and `beta` are the
// product's; beta is 0 without a bias. 5 kB of stack.
void multiply_halves(const ProductMatrices& product, float alpha, float beta);

}  // namespace rushlight::kernels::board
