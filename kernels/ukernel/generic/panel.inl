// SPDX-License-Identifier: BSD-3-Clause
// Panel products around the tile of an instruction set. The including source defines
//   kRows             rows of a full tile
//   add_tile<rows>    sums of `rows` (kRows or 1) rows and all columns, stored contiguously
//   kTakesColumns     true if the tile stores only tile.columns columns
//   RL_OWN_TILES      its own add_tiles(left, left_stride, panel, tile, count): consecutive full
//                     tiles; advances the tile's `from` and `out`
#include "kernels/ukernel/generic/panel_tile.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

struct TilePosition {
  float* at;
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
};

// Copies a part of a tile to or from C. Small code rather than fast.
[[gnu::noinline]] void move_tile(TilePosition to, TilePosition from, size_t rows, size_t columns) {
  for (; rows > 0; --rows, to.at += to.row_stride, from.at += from.row_stride) {
    float* target = to.at;
    const float* source = from.at;
    for (size_t j = columns; j > 0; --j, target += to.column_stride, source += from.column_stride) {
      *target = *source;
    }
  }
}

constexpr ptrdiff_t bytes(ptrdiff_t elements) { return elements * static_cast<ptrdiff_t>(sizeof(float)); }

#ifndef RL_OWN_TILES
inline void add_tiles(const float* left, ptrdiff_t left_stride, const float* panel, Tile& tile,
                      size_t count) {
  const ptrdiff_t advance = static_cast<ptrdiff_t>(kRows) * left_stride;
  for (; count > 0; --count, left += advance) {
    add_tile<kRows>(left, left_stride, panel, tile);
    tile.from += static_cast<ptrdiff_t>(kRows) * tile.from_step / bytes(1);
    tile.out += static_cast<ptrdiff_t>(kRows) * tile.out_step / bytes(1);
  }
}
#endif

// For strided or few columns: computes a full tile in memory and copies the used columns.
template <size_t kTileRows>
inline void add_some(const PanelProduct& product, Tile& tile, float* memory, const float* left, float* out,
                     const float* of_rows_from) {
  const bool begins = product.initial != nullptr;
  const TilePosition target{out, product.out_stride, product.column_stride};
  const TilePosition moved{memory, static_cast<ptrdiff_t>(kPanelColumns), 1};
  const TilePosition initial{const_cast<float*>(product.initial), 0, 1};
  const TilePosition of_rows{const_cast<float*>(of_rows_from), 1, 0};
  move_tile(moved, begins ? initial : (of_rows_from != nullptr ? of_rows : target), kTileRows,
            product.columns);
  tile.from = tile.out = memory;
  add_tile<kTileRows>(left, product.left_stride, product.panel, tile);
  move_tile(target, moved, kTileRows, product.columns);
}

}  // namespace

void multiply_panel(const PanelProduct& product) {
  constexpr auto kTileRows = static_cast<ptrdiff_t>(kRows);
  const bool adjacent = product.column_stride == 1 && (kTakesColumns || product.columns == kPanelColumns);
  const bool begins = product.initial != nullptr;
  Tile tile;
  tile.out_step = bytes(product.out_stride);
  tile.from_step = begins ? 0 : tile.out_step;
  tile.depth = product.depth;
  tile.parts = product.parts;
  tile.part_step = bytes(product.part_stride - static_cast<ptrdiff_t>(product.depth));
  tile.rectify = product.rectify ? 1 : 0;
  tile.columns = product.columns;
  const float* of_rows = product.initial_of_rows;
  tile.spreads = kPanelSpreads && of_rows != nullptr;
  const float* left = product.left;
  auto rows = static_cast<ptrdiff_t>(product.rows);
  if (adjacent) {
    tile.out = product.out;
    tile.from = begins ? product.initial : product.out;
    if (tile.spreads) {
      tile.from = of_rows;
      tile.from_step = bytes(1);
    }
    const ptrdiff_t whole = rows / kTileRows * kTileRows;
    if (whole > 0) {
      add_tiles(left, product.left_stride, product.panel, tile, static_cast<size_t>(whole / kTileRows));
      left += whole * product.left_stride;
      rows -= whole;
    }
    if (rows > 0 && whole > 0 && begins) {
      // Recomputes some rows instead of computing the last ones one at a time.
      const ptrdiff_t back = kTileRows - rows;
      tile.out -= back * product.out_stride;
      return add_tiles(left - back * product.left_stride, product.left_stride, product.panel, tile, 1);
    }
    for (; rows > 0; --rows, left += product.left_stride, tile.out += product.out_stride) {
      if (!begins && !tile.spreads) tile.from = tile.out;
      add_tile<1>(left, product.left_stride, product.panel, tile);
      if (tile.spreads) ++tile.from;
    }
    return;
  }
  float memory[kRows * kPanelColumns] = {};
  tile.from_step = tile.out_step = bytes(kPanelColumns);
  float* out = product.out;
  tile.spreads = false;
  const auto advance = [&](ptrdiff_t count) {
    rows -= count;
    left += count * product.left_stride;
    out += count * product.out_stride;
    if (of_rows != nullptr) of_rows += count;
  };
  for (; rows >= kTileRows; advance(kTileRows)) add_some<kRows>(product, tile, memory, left, out, of_rows);
  for (; rows > 0; advance(1)) add_some<1>(product, tile, memory, left, out, of_rows);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
