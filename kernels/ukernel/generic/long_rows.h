// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Exchanges the axes of a block with more rows than columns, whose rows would cost more than their elements,
// unless the elements of a row are adjacent.
inline void lengthen_rows(BlockStrides* to, BlockStrides* from, size_t* rows, size_t* columns) {
  if (*rows <= *columns || (to->column == 1 && from->column == 1)) return;
  std::swap(*rows, *columns);
  std::swap(to->row, to->column);
  std::swap(from->row, from->column);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
