// SPDX-License-Identifier: BSD-3-Clause
// Portable products of two quantized matrices. Zero points are subtracted first, so factors are int16 and
// sums need no correction: they have 32 bits, and 48 bits for 16-bit elements. In a product of two
// activations neither factor is constant, so zero points cannot be folded into a bias.
#pragma once

#include "kernels/matmul/product.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The zero points that are subtracted from the elements of each factor.
struct FactorZeroPoints {
  int16_t a;
  int16_t b;
};

// out = requantize(a b) with scale 0 of `to`, for each matrix of a batch if the tensors have rank 3.
// `product` has the sizes; the tensors have one dtype. InvalidType if no selected operator has it.
Error multiply_integers(Product product, FactorZeroPoints zero_points, const ukernel::Requantization& to,
                        const Tensor& a, const Tensor& b, const Tensor& out);

}  // namespace rushlight::kernels
