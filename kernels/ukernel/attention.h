// SPDX-License-Identifier: BSD-3-Clause
// Float32 attention for one query at a time: scores, one blocked softmax step, scaling. Several queries at
// once use the matrix products of kernels/ukernel/gemm.h.
//
// Memory: any n, alignment of float; accesses only the described elements; results overlap no operand.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// One step of the online softmax (Milakov and Gimelshein, 2018), which processes scores block by block. With
// x[j] = scores[j] * scale + mask[j] (no mask if null) and m = max of all x[j] and *shift, which is -inf
// before the first block:
//
//   scores[j] = e^(x[j] - m),  *sum = f * *sum + their sum,  *shift = m,  returns f = e^(old *shift - m)
//
// The caller multiplies earlier weights, and sums weighted with them, by f. If m is -inf, all weights are 0
// and f is 1. NaN or +inf among x makes the sum NaN. Weights have a relative error below 3e-7; weights below
// e^-88 are 0, those below e^-87 may be.
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
