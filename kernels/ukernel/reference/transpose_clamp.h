// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/transpose_clamp.h, for tests, which compare by equality: a float32 addition
// and two comparisons have one result on all variants.
#pragma once

#include "kernels/ukernel/transpose_clamp.h"

namespace rushlight::ukernel::reference {

// Element by element in the order of `from`. The comparisons are false for NaN, which passes.
inline void transpose_clamped(const TransposeClamp& t) {
  for (size_t i = 0; i < t.rows; ++i) {
    for (size_t j = 0; j < t.columns; ++j) {
      const ptrdiff_t at = static_cast<ptrdiff_t>(j) * t.to_stride + static_cast<ptrdiff_t>(i);
      float value = t.from[static_cast<ptrdiff_t>(i) * t.from_stride + static_cast<ptrdiff_t>(j)];
      if (t.residual != nullptr) value += t.residual[at];
      value = value < t.low ? t.low : value;
      t.to[at] = value > t.high ? t.high : value;
    }
  }
}

}  // namespace rushlight::ukernel::reference
