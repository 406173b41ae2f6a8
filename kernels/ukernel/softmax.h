// SPDX-License-Identifier: BSD-3-Clause
// Softmax and log-softmax of float32: along a span of contiguous elements, or down the columns of rows.
//
//   softmax:     y[i] = exp(x[i] - m) / s      m = the largest x, s = the sum of exp(x[i] - m)
//   log_softmax: y[i] = x[i] - m - log(s)
//
// Subtracting m prevents overflow. s is summed in the order of reduce.h; exp and log are the functions of
// vector_math.h. The quotient is a product with 1 / s. If an element is NaN or +inf, or all are -inf, all
// results are NaN. y may be x. Alignment of float.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// n > 0 elements.
RL_UKERNEL(void, softmax_span, (size_t n, const float* x, float* y), (n, x, y))
RL_UKERNEL(void, log_softmax_span, (size_t n, const float* x, float* y), (n, x, y))

// Each column of `rows` > 0 rows of n elements, x_stride and y_stride floats apart.
RL_UKERNEL(void, softmax_rows,
           (size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, float* y),
           (rows, x_stride, y_stride, n, x, y))
RL_UKERNEL(void, log_softmax_rows,
           (size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, float* y),
           (rows, x_stride, y_stride, n, x, y))

}  // namespace rushlight::ukernel
