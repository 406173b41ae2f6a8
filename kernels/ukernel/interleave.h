// SPDX-License-Identifier: BSD-3-Clause
// Interleaves a few planes of float32:
//
//   to[i * planes + p] = from[p * stride + i]    for i < count, p < planes
//
// Memory: accesses only these elements; alignment of float; the arrays do not overlap.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr size_t kInterleavedPlanes = 4;  // the most planes; the least is 1

RL_UKERNEL(void, interleave, (size_t count, size_t planes, const float* from, ptrdiff_t stride, float* to),
           (count, planes, from, stride, to))

}  // namespace rushlight::ukernel
