// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/interleave.h, for tests. Moves values only: tests compare by equality.
#pragma once

#include "kernels/ukernel/interleave.h"

namespace rushlight::ukernel::reference {

// Planes are `stride` floats apart; `to` is contiguous, [count][planes].
inline void interleave(size_t count, size_t planes, const float* from, ptrdiff_t stride, float* to) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t p = 0; p < planes; ++p) {
      to[i * planes + p] = from[static_cast<ptrdiff_t>(p) * stride + static_cast<ptrdiff_t>(i)];
    }
  }
}

}  // namespace rushlight::ukernel::reference
