// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a tile of sums of panel.h. Assembler reads the members by their offsets.
#pragma once

#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel {

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
