// SPDX-License-Identifier: BSD-3-Clause
// The affine map of a normalization whose mean and variance are known, in float32: reduce.h computes these. y
// may be x; otherwise it overlaps no operand. Accesses only the described elements; alignment of float.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// y[i] = (x[i] - mean) * rstd * weight[i] + bias[i] for n contiguous elements; weight and bias may be null.
// rstd is 1 / sqrt(variance + epsilon). Layer norm of one row; RMS norm passes a mean of 0.
RL_UKERNEL(void, normalize_span,
           (size_t n, const float* x, float mean, float rstd, const float* weight, const float* bias,
            float* y),
           (n, x, mean, rstd, weight, bias, y))

// y[i] = x[i] * scale + shift for n contiguous elements: a channel of a batch norm, channels-first.
RL_UKERNEL(void, scale_span, (size_t n, const float* x, float scale, float shift, float* y),
           (n, x, scale, shift, y))

// The same for rows of n elements, x_stride and y_stride floats apart: y[i][j] = x[i][j] * scale[j] +
// shift[j], a batch norm of channels-last pixels. scale and shift have n elements.
RL_UKERNEL(void, scale_rows,
           (size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, const float* scale,
            const float* shift, float* y),
           (rows, x_stride, y_stride, n, x, scale, shift, y))

}  // namespace rushlight::ukernel
