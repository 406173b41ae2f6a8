// SPDX-License-Identifier: BSD-3-Clause
// The portable matrix product behind mm, bmm, addmm, linear and the like, compiled once for all of them: rows
// times tiles of 32 columns without packing.
#pragma once

#include "kernels/matmul/product.h"
#include "runtime/base/error.h"

namespace rushlight::kernels {

// Computes the product, for any strides. As in BLAS, alpha 0 means that the matrices are not read, and beta 0
// that the bias is not: their NaNs do not reach the result. InvalidType if no operator of the build
// multiplies matrices of this dtype. Cost: rows * columns * depth multiply-adds, four times that for complex
// elements.
Error multiply(const Product& product);

}  // namespace rushlight::kernels
