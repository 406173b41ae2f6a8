// SPDX-License-Identifier: BSD-3-Clause
// Softmax and its logarithm of float32: along a span of consecutive elements, or down columns.
//
//   softmax:     y[i] = exp(x[i] - m) / s      m = the largest x, s = the sum of exp(x[i] - m)
//   log_softmax: y[i] = x[i] - m - log(s)
//
// s is summed in the order of reduce.h, exp and log are those of vector_math.h. The quotient is a product
// with 1 / s. One NaN or +inf, or nothing but -inf, makes NaN of all. y may be x.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// n elements, not 0.
RL_UKERNEL(void, softmax_span, (size_t n, const float* x, float* y), (n, x, y))
RL_UKERNEL(void, log_softmax_span, (size_t n, const float* x, float* y), (n, x, y))

// Each column of `rows` rows, not 0, of n elements, x_stride and y_stride elements apart.
RL_UKERNEL(void, softmax_rows,
           (size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, float* y),
           (rows, x_stride, y_stride, n, x, y))
RL_UKERNEL(void, log_softmax_rows,
           (size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, float* y),
           (rows, x_stride, y_stride, n, x, y))

}  // namespace rushlight::ukernel
