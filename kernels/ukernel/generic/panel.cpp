// SPDX-License-Identifier: BSD-3-Clause
// Of scalars: all sums of a tile are in registers, each number of the factors is loaded once.
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = 4;
constexpr bool kTakesColumns = false;
constexpr size_t kUnrolled = 4;

template <size_t kTileRows>
[[gnu::noinline]] void add_tile(const float* left, ptrdiff_t left_stride, const float* panel, size_t depth,
                                float* out, ptrdiff_t out_stride) {
  float sums[kTileRows][kPanelColumns];
  const float* rows[kTileRows];
#pragma GCC unroll 8
  for (size_t i = 0; i < kTileRows; ++i) {
    rows[i] = left + static_cast<ptrdiff_t>(i) * left_stride;
#pragma GCC unroll 32
    for (size_t j = 0; j < kPanelColumns; ++j) sums[i][j] = out[static_cast<ptrdiff_t>(i) * out_stride + j];
  }
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
  const auto advance = [&](size_t count) {
    panel += count * kPanelColumns;
#pragma GCC unroll 8
    for (size_t i = 0; i < kTileRows; ++i) rows[i] += count;
  };
  for (; depth >= kUnrolled; depth -= kUnrolled) {
#pragma GCC unroll 4
    for (size_t k = 0; k < kUnrolled; ++k) step(k);
    advance(kUnrolled);
  }
  for (; depth > 0; --depth) {
    step(0);
    advance(1);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 32
    for (size_t j = 0; j < kPanelColumns; ++j) out[static_cast<ptrdiff_t>(i) * out_stride + j] = sums[i][j];
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"
#include "kernels/ukernel/generic/panel_copies.inl"
#include "kernels/ukernel/generic/panel_rows.inl"
