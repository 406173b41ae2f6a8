// SPDX-License-Identifier: BSD-3-Clause
// Products of two quantized matrices, whose zero points are subtracted first: factors are int16, and sums
// need no correction. They have 32 bits, those of numbers of 16 bits 48.
#pragma once

#include "kernels/matmul/product.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct FactorZeroPoints {
  int16_t a;
  int16_t b;
};

// out = quantized(a b) by column 0 of `to`, for each index of a batch where the tensors have rank 3. The
// product has their sizes; they have one dtype. InvalidType for one that no selected operator has.
Error multiply_integers(Product product, FactorZeroPoints zero_points, const ukernel::Requantization& to,
                        const Tensor& a, const Tensor& b, const Tensor& out);

}  // namespace rushlight::kernels
