// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a tile of sums of panel.h. Assembler of 32-bit targets reads the members by their offsets,
// 4 bytes each: keep their order and add new ones at the end.
#pragma once

#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel {

// The tile stores out[i][j] = from[i][j] + sum of products, for the rows of its kernel and all kPanelColumns
// columns, unless the kernel stores only `columns` of them. A from_step of 0 starts all rows from the same
// values (a bias for each column). Between calls for consecutive tiles the caller advances `from` and `out`.
struct Tile {
  const float* from;    // start of the sums
  ptrdiff_t from_step;  // in bytes from row to row
  float* out;
  ptrdiff_t out_step;
  size_t depth;  // elements of a part
  size_t parts;
  ptrdiff_t part_step;  // in bytes from the end of a part to the next part
  size_t rectify;       // 0 or 1
  size_t columns;
  bool spreads;  // `from` has one value for each row
};

}  // namespace rushlight::ukernel
