// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions of contiguous floats for cores without wide vectors: few instructions an element,
// little code. `to` may be an input but not overlap it otherwise. Any count, also 0; alignment of float. On
// vectors that flush subnormals to zero (Helium, Armv7 NEON), these functions do so too.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

RL_UKERNEL_NATIVE(void, fill_span, (float* to, size_t count, float value), (to, count, value))
RL_UKERNEL_NATIVE(void, copy_span, (float* to, const float* from, size_t count), (to, from, count))

// from * scale + offset, fused or with two roundings.
RL_UKERNEL_NATIVE(void, scale_span, (float* to, const float* from, size_t count, float scale, float offset),
                  (to, from, count, scale, offset))

// ReLU; NaN of either sign passes.
RL_UKERNEL_NATIVE(void, rectify_span, (float* to, const float* from, size_t count), (to, from, count))

// Clamps to low, then to high; NaN passes. Infinite bounds are allowed.
RL_UKERNEL_NATIVE(void, clamp_span, (float* to, const float* from, size_t count, float low, float high),
                  (to, from, count, low, high))

RL_UKERNEL_NATIVE(void, add_span, (float* to, const float* a, const float* b, size_t count),
                  (to, a, b, count))

// The sum in any order: of kSumSpan elements, at most 32 additions depend on each other.
inline constexpr size_t kSumSpan = native::kSumSpan;
RL_UKERNEL_NATIVE(float, sum_span, (const float* from, size_t count), (from, count))

// sums[j] += row[i * stride + j] for i < rows in order, j < columns. The stride is in elements.
RL_UKERNEL_NATIVE(void, add_rows,
                  (float* sums, const float* row, ptrdiff_t stride, size_t rows, size_t columns),
                  (sums, row, stride, rows, columns))

}  // namespace rushlight::ukernel
