// SPDX-License-Identifier: BSD-3-Clause
// Panels with scalars: all sums of a tile stay in registers, and each element of the factors is loaded once.
#include "kernels/ukernel/panel.h"

#include "kernels/ukernel/generic/panel_tile.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = kPanelRows;
constexpr bool kTakesColumns = false;
constexpr size_t kUnrolled = 4;
constexpr size_t kRowsTogether = 4;

// The sums of kTileRows x kPanelColumns elements are local arrays with constant bounds, so that compilers
// keep them in registers once all loops over them are unrolled. A step of the depth loads kTileRows elements
// of the left factor and kPanelColumns of the panel.
template <size_t kTileRows>
[[gnu::noinline]] void add_tile(const float* left, ptrdiff_t left_stride, const float* panel,
                                const Tile& tile) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  const ptrdiff_t from_stride = tile.from_step / kBytes, out_stride = tile.out_step / kBytes;
  const ptrdiff_t part_stride = tile.part_step / kBytes;
  float sums[kTileRows][kPanelColumns];
  const float* rows[kTileRows];
#pragma GCC unroll 8
  for (size_t i = 0; i < kTileRows; ++i) {
    rows[i] = left + static_cast<ptrdiff_t>(i) * left_stride;
#pragma GCC unroll 32
    for (size_t j = 0; j < kPanelColumns; ++j)
      sums[i][j] = tile.from[static_cast<ptrdiff_t>(i) * from_stride + j];
  }
  // Rows are the inner loop: one element of the panel is alive at a time.
  const auto step = [&](size_t k) {
    float factors[kTileRows];
#pragma GCC unroll 8
    for (size_t i = 0; i < kTileRows; ++i) factors[i] = rows[i][k];
#pragma GCC unroll 32
    for (size_t j = 0; j < kPanelColumns; ++j) {
      const float number = panel[k * kPanelColumns + j];
#pragma GCC unroll 8
      for (size_t i = 0; i < kTileRows; ++i) sums[i][j] += factors[i] * number;
    }
  };
  const auto advance = [&](ptrdiff_t count) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kTileRows; ++i) rows[i] += count;
  };
  const auto take = [&](size_t count) {
    panel += count * kPanelColumns;
    advance(static_cast<ptrdiff_t>(count));
  };
  // The panel continues from part to part, while the rows skip to their next part.
  for (size_t part = tile.parts; part > 0; --part) {
    size_t depth = tile.depth;
    for (; depth >= kUnrolled; depth -= kUnrolled) {
#pragma GCC unroll 4
      for (size_t k = 0; k < kUnrolled; ++k) step(k);
      take(kUnrolled);
    }
    for (; depth > 0; --depth) {
      step(0);
      take(1);
    }
    advance(part_stride);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 32
    for (size_t j = 0; j < kPanelColumns; ++j)
      tile.out[static_cast<ptrdiff_t>(i) * out_stride + j] = sums[i][j];
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"
#include "kernels/ukernel/generic/panel_copies.inl"
#include "kernels/ukernel/generic/panel_rows.inl"
