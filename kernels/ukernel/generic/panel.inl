// SPDX-License-Identifier: BSD-3-Clause
// Products with a panel around a tile that an instruction set has of its own. The including source defines
//   kRows             rows of a full tile
//   add_tile<rows>    sums of `rows` (kRows or 1) rows and of all columns, which are adjacent
//   kTakesColumns     whether it is told how many columns there are
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Between the columns that are there and a tile of all columns; small rather than quick.
[[gnu::noinline]] void move_tile(const PanelProduct& product, size_t rows, float* out, float* tile, bool in) {
  for (size_t i = 0; i < rows; ++i, out += product.out_stride, tile += kPanelColumns) {
    float* at = out;
    for (size_t j = 0; j < product.columns; ++j, at += product.column_stride) {
      if (in) {
        tile[j] = *at;
      } else {
        *at = tile[j];
      }
    }
  }
}

template <size_t kTileRows>
inline void add_rows(const PanelProduct& product, float* tile, const float* left, float* out) {
  const bool adjacent = tile == nullptr;
  if (!adjacent) move_tile(product, kTileRows, out, tile, true);
  float* to = adjacent ? out : tile;
  const ptrdiff_t to_stride = adjacent ? product.out_stride : static_cast<ptrdiff_t>(kPanelColumns);
  if constexpr (kTakesColumns) {
    add_tile<kTileRows>(left, product.left_stride, product.panel, product.depth, to, to_stride,
                        product.columns);
  } else {
    add_tile<kTileRows>(left, product.left_stride, product.panel, product.depth, to, to_stride);
  }
  if (!adjacent) move_tile(product, kTileRows, out, tile, false);
}

}  // namespace

void multiply_panel(const PanelProduct& product) {
  float memory[kRows * kPanelColumns];
  const bool adjacent = product.column_stride == 1 && (kTakesColumns || product.columns == kPanelColumns);
  float* tile = adjacent ? nullptr : memory;
  if (!adjacent) {
    for (float& number : memory) number = 0;
  }
  const float* left = product.left;
  float* out = product.out;
  size_t rows = product.rows;
  for (; rows >= kRows; rows -= kRows) {
    add_rows<kRows>(product, tile, left, out);
    left += static_cast<ptrdiff_t>(kRows) * product.left_stride;
    out += static_cast<ptrdiff_t>(kRows) * product.out_stride;
  }
  for (; rows > 0; --rows, left += product.left_stride, out += product.out_stride) {
    add_rows<1>(product, tile, left, out);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
