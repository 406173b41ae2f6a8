// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/gather.h, for tests. Copies are exact: tests compare by equality, and check
// that elements between the rows of `to` do not change.
#pragma once

#include "kernels/ukernel/gather.h"

namespace rushlight::ukernel::reference {

// Three loops a row: zeros, elements, zeros.
inline void gather_rows(const GatherRows& gather) {
  for (size_t i = 0; i < gather.rows; ++i) {
    float* to = gather.to + static_cast<ptrdiff_t>(i) * gather.to_stride;
    const float* from = gather.from + static_cast<ptrdiff_t>(i) * gather.from_stride;
    for (size_t j = 0; j < gather.before; ++j) *to++ = 0;
    for (size_t j = 0; j < gather.count; ++j) *to++ = from[static_cast<ptrdiff_t>(j) * gather.step];
    for (size_t j = 0; j < gather.after; ++j) *to++ = 0;
  }
}

}  // namespace rushlight::ukernel::reference
