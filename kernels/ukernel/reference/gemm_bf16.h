// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/gemm_bf16.h: a tile of float32 with converted factors, whose panel is no
// longer in pairs.
#pragma once

#include <vector>

#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/reference/convert.h"
#include "kernels/ukernel/reference/gemm.h"

namespace rushlight::ukernel::reference {

inline void gemm_tile_bf16(const GemmTileBf16& tile) {
  const auto value = [](uint16_t bits) { return value_of(bits, 7); };
  std::vector<float> a;
  std::vector<float> b;
  for (size_t t = 0; t < tile.taps; ++t) {
    for (size_t i = 0; i < tile.rows; ++i) {
      const uint16_t* row = tile.a[t * tile.a_tap_stride + i] + tile.a_offset;
      for (size_t p = 0; p < tile.depth; ++p) a.push_back(value(row[p]));
    }
    const uint16_t* panel = tile.b + static_cast<ptrdiff_t>(t) * tile.b_tap_stride;
    for (size_t p = 0; p < tile.depth; ++p) {
      const uint16_t* pairs = panel + static_cast<ptrdiff_t>(p / 2) * tile.b_stride;
      for (size_t j = 0; j < tile.columns; ++j) b.push_back(value(pairs[2 * j + p % 2]));
    }
  }
  std::vector<const float*> rows;
  for (size_t i = 0; i < tile.taps * tile.rows; ++i) rows.push_back(a.data() + i * tile.depth);
  GemmTile floats;
  floats.rows = tile.rows;
  floats.columns = tile.columns;
  floats.taps = tile.taps;
  floats.depth = tile.depth;
  floats.a = rows.data();
  floats.a_tap_stride = tile.rows;
  floats.b = b.data();
  floats.b_stride = static_cast<ptrdiff_t>(tile.columns);
  floats.b_tap_stride = static_cast<ptrdiff_t>(tile.depth * tile.columns);
  floats.initial_from = tile.initial_from;
  floats.initial = tile.initial;
  floats.c = tile.c;
  floats.c_stride = tile.c_stride;
  floats.adds_to_c = tile.adds_to_c;
  floats.residual = tile.residual;
  floats.residual_stride = tile.residual_stride;
  floats.low = tile.low;
  floats.high = tile.high;
  reference::gemm_tile(floats);
}

}  // namespace rushlight::ukernel::reference
