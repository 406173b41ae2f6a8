// SPDX-License-Identifier: BSD-3-Clause
// Elements of a few planes, side by side:
//
//   to[i * planes + p] = from[p * stride + i]    for i < count, p < planes
//
// Nothing else is read or written, the two do not overlap, no alignment beyond that of float.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr size_t kInterleavedPlanes = 4;  // and at least 1

RL_UKERNEL(void, interleave, (size_t count, size_t planes, const float* from, ptrdiff_t stride, float* to),
           (count, planes, from, stride, to))

}  // namespace rushlight::ukernel
