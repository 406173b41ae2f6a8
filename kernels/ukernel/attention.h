// SPDX-License-Identifier: BSD-3-Clause
// What attention does to float32 scores, one query at a time; products of many are kernels/ukernel/gemm.h.
// Any alignment, any n; nothing outside of the arrays is read or written.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// A step of a softmax that goes through scores in blocks. With x[j] = scores[j] * scale + mask[j] (mask null:
// without it) and m the largest of these and *shift, -inf before the first block:
//
//   scores[j] = e^(x[j] - m),  *sum = f * *sum + their sum,  *shift = m,  returns f = e^(old *shift - m)
//
// Earlier weights and what was summed with them are to be multiplied by f. Where m is -inf all weights are 0
// and f is 1. NaN and +inf among x make the sum NaN. Weights are within 3e-7 of their size; those below e^-87
// are 0.
RL_UKERNEL(float, attention_weights,
           (size_t n, float* scores, float scale, const float* mask, float* shift, float* sum),
           (n, scores, scale, mask, shift, sum))

// scores[j] = sum over p < depth of query[p] * keys[j * stride + p], for j < n.
RL_UKERNEL(void, attention_scores,
           (size_t n, size_t depth, const float* query, const float* keys, ptrdiff_t stride, float* scores),
           (n, depth, query, keys, stride, scores))

// row[i] *= factor, for i < n.
RL_UKERNEL(void, attention_scale, (size_t n, float* row, float factor), (n, row, factor))

}  // namespace rushlight::ukernel
