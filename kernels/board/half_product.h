// SPDX-License-Identifier: BSD-3-Clause
// Products of float16 matrices for cores that compute in float32: blocks of both factors are converted on the
// stack, and sums are rounded once.
#pragma once

#include "kernels/matmul/matmul.h"

namespace rushlight::kernels::board {

// The matrices that are float32 instead of float16; the bias is as `out`.
struct FloatMatrices {
  bool a = false;
  bool out = false;
};

// out = alpha a b + beta bias, as multiply() of kernels/matmul. `alpha` and `beta` are the product's; beta is
// 0 without a bias. The bias may be `out` itself. 5 kB of stack.
void multiply_halves(const ProductMatrices& product, float alpha, float beta, FloatMatrices floats = {});

}  // namespace rushlight::kernels::board
