// SPDX-License-Identifier: BSD-3-Clause
// Reductions of float32: of a span of consecutive elements to a number, or of rows to one row.
//
// Sums are blocked. Of a run, element i goes to partial sum i % 32 (i % 4 without vectors); 64 additions to
// each make a block, 64 blocks are added to make a larger one, and those are added up; at the end the 32
// become one by halves. Of rows, each column is added so by itself. The order depends neither on the width of
// vectors nor on how work is split. Differences from a mean are squared and added in one rounding where the
// machine can.
//
// The largest and smallest are NaN where there is one. Nothing beyond the elements is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// n elements from x on; of none the sum is 0.
RL_UKERNEL(float, sum_span, (size_t n, const float* x), (n, x))
// The sum of (x[i] - mean)^2.
RL_UKERNEL(float, squares_span, (size_t n, const float* x, float mean), (n, x, mean))
// n is not 0.
RL_UKERNEL(float, max_span, (size_t n, const float* x), (n, x))
RL_UKERNEL(float, min_span, (size_t n, const float* x), (n, x))
// The number of the first element that equals the value, or of the first NaN for NaN; n when there is none.
RL_UKERNEL(size_t, find_span, (size_t n, const float* x, float value), (n, x, value))

// `rows` rows of n elements, `stride` elements apart: y[j] becomes the reduction of column j. y is not among
// them.
RL_UKERNEL(void, sum_rows, (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y),
           (rows, stride, n, x, y))
// Of (x - mean[j])^2.
RL_UKERNEL(void, squares_rows,
           (size_t rows, ptrdiff_t stride, size_t n, const float* x, const float* mean, float* y),
           (rows, stride, n, x, mean, y))
// rows is not 0.
RL_UKERNEL(void, max_rows, (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y),
           (rows, stride, n, x, y))
RL_UKERNEL(void, min_rows, (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y),
           (rows, stride, n, x, y))
// The same with the number of the row it is in: of equals the first, of NaN too. rows is at most 2^31 - 1.
RL_UKERNEL(void, argmax_rows,
           (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y, int32_t* index),
           (rows, stride, n, x, y, index))
RL_UKERNEL(void, argmin_rows,
           (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y, int32_t* index),
           (rows, stride, n, x, y, index))

}  // namespace rushlight::ukernel
