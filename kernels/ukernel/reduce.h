// SPDX-License-Identifier: BSD-3-Clause
// Reductions of float32: of a span of contiguous elements to one value, or of rows to one row.
//
// Sums are blocked, which bounds their rounding error without Kahan's extra steps. Element i of a span is
// added to partial sum i % 32 (i % 4 without vectors). Every 64 additions form a block, 64 blocks are added
// to a larger block, and the larger blocks are added up; at the end the 32 partial sums are halved pairwise
// to one. Sums of rows treat each column in this manner, as one partial sum. The order depends neither on the
// vector width nor on the split of the work. Squared differences from a mean use fused multiply-adds where
// the processor has them.
//
// Maximum and minimum are NaN if an element is NaN. Memory: accesses only the described elements; alignment
// of float.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// n elements from x. The sum of no elements is 0.
RL_UKERNEL(float, sum_span, (size_t n, const float* x), (n, x))
// The sum of (x[i] - mean)^2.
RL_UKERNEL(float, squares_span, (size_t n, const float* x, float mean), (n, x, mean))
// n > 0.
RL_UKERNEL(float, max_span, (size_t n, const float* x), (n, x))
RL_UKERNEL(float, min_span, (size_t n, const float* x), (n, x))
// Returns the index of the first element equal to `value` (of the first NaN if `value` is NaN), or n if none
// is.
RL_UKERNEL(size_t, find_span, (size_t n, const float* x, float value), (n, x, value))

// `rows` rows of n elements, `stride` elements apart: y[j] = the reduction of column j. y does not overlap x.
RL_UKERNEL(void, sum_rows, (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y),
           (rows, stride, n, x, y))
// y[j] = sum of (x - mean[j])^2 over column j.
RL_UKERNEL(void, squares_rows,
           (size_t rows, ptrdiff_t stride, size_t n, const float* x, const float* mean, float* y),
           (rows, stride, n, x, mean, y))
// rows > 0.
RL_UKERNEL(void, max_rows, (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y),
           (rows, stride, n, x, y))
RL_UKERNEL(void, min_rows, (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y),
           (rows, stride, n, x, y))
// Also stores the row index of each result: the first of equal elements, or the first NaN. 0 < rows < 2^31.
RL_UKERNEL(void, argmax_rows,
           (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y, int32_t* index),
           (rows, stride, n, x, y, index))
RL_UKERNEL(void, argmin_rows,
           (size_t rows, ptrdiff_t stride, size_t n, const float* x, float* y, int32_t* index),
           (rows, stride, n, x, y, index))

}  // namespace rushlight::ukernel
