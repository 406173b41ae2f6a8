// SPDX-License-Identifier: BSD-3-Clause
// A tile of sums, for what is written for an instruction set: assembler reads it by the offsets of members.
#pragma once

#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel {

struct Tile {
  const float* from;    // what sums begin with
  ptrdiff_t from_step;  // from row to row, in bytes
  float* out;
  ptrdiff_t out_step;
  size_t depth;  // of a part
  size_t parts;
  ptrdiff_t part_step;  // from the end of a part to the next one, in bytes
  size_t rectify;       // 0 or 1
  size_t columns;
  bool spreads;  // `from` has one number for each row
};

}  // namespace rushlight::ukernel
