// SPDX-License-Identifier: BSD-3-Clause
// Contiguous floats for cores without wide vectors: few instructions a number, little code. What is written
// may be what is read, but not overlap it in another way. Any count, also 0. Where the vectors of the machine
// take subnormal numbers for zero (Helium, Armv7 NEON), so do these.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Whether sums of many numbers are quicker by rows, with add_span(), than one by one.
inline constexpr bool kSpansAreVectors = native::kSpansAreVectors;

RL_UKERNEL_NATIVE(void, fill_span, (float* to, size_t count, float value), (to, count, value))
RL_UKERNEL_NATIVE(void, copy_span, (float* to, const float* from, size_t count), (to, from, count))

// from * scale + offset, in one rounding or two.
RL_UKERNEL_NATIVE(void, scale_span, (float* to, const float* from, size_t count, float scale, float offset),
                  (to, from, count, scale, offset))

// Zero for what is below zero; NaN, of either sign, stays.
RL_UKERNEL_NATIVE(void, rectify_span, (float* to, const float* from, size_t count), (to, from, count))

// low for what is below it, high for what is then above that; NaN stays.
RL_UKERNEL_NATIVE(void, clamp_span, (float* to, const float* from, size_t count, float low, float high),
                  (to, from, count, low, high))

RL_UKERNEL_NATIVE(void, add_span, (float* to, const float* a, const float* b, size_t count),
                  (to, a, b, count))

}  // namespace rushlight::ukernel
