// SPDX-License-Identifier: BSD-3-Clause
// Reductions, normalization and softmax of float64: as in reduce.h, normalize.h and softmax.h, with double
// for float. Sums have four vectors of partial sums: their order depends on the width of the vectors, so that
// variants differ in the last bits. The error of exp is below 2 units in the last place; results below 1e-307
// are 0. Alignment of double.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

RL_UKERNEL(double, sum_span_f64, (size_t n, const double* x), (n, x))
// The sum of (x[i] - mean)^2.
RL_UKERNEL(double, squares_span_f64, (size_t n, const double* x, double mean), (n, x, mean))
// n > 0. NaN if an element is NaN.
RL_UKERNEL(double, max_span_f64, (size_t n, const double* x), (n, x))
RL_UKERNEL(double, min_span_f64, (size_t n, const double* x), (n, x))

// `rows` rows of n elements, `stride` elements apart: y[j] = the reduction of column j. y does not overlap x.
RL_UKERNEL(void, sum_rows_f64, (size_t rows, ptrdiff_t stride, size_t n, const double* x, double* y),
           (rows, stride, n, x, y))
RL_UKERNEL(void, squares_rows_f64,
           (size_t rows, ptrdiff_t stride, size_t n, const double* x, const double* mean, double* y),
           (rows, stride, n, x, mean, y))
// rows > 0.
RL_UKERNEL(void, max_rows_f64, (size_t rows, ptrdiff_t stride, size_t n, const double* x, double* y),
           (rows, stride, n, x, y))
RL_UKERNEL(void, min_rows_f64, (size_t rows, ptrdiff_t stride, size_t n, const double* x, double* y),
           (rows, stride, n, x, y))

// y[i] = (x[i] - mean) * rstd * weight[i] + bias[i]; weight and bias may be null, y may be x.
RL_UKERNEL(void, normalize_span_f64,
           (size_t n, const double* x, double mean, double rstd, const double* weight, const double* bias,
            double* y),
           (n, x, mean, rstd, weight, bias, y))

// n > 0 elements; y may be x. NaN and infinities as in softmax.h.
RL_UKERNEL(void, softmax_span_f64, (size_t n, const double* x, double* y), (n, x, y))
RL_UKERNEL(void, log_softmax_span_f64, (size_t n, const double* x, double* y), (n, x, y))
// Each column of `rows` > 0 rows of n elements, x_stride and y_stride doubles apart.
RL_UKERNEL(void, softmax_rows_f64,
           (size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const double* x, double* y),
           (rows, x_stride, y_stride, n, x, y))
RL_UKERNEL(void, log_softmax_rows_f64,
           (size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const double* x, double* y),
           (rows, x_stride, y_stride, n, x, y))

}  // namespace rushlight::ukernel
