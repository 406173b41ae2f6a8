// SPDX-License-Identifier: BSD-3-Clause
// Tiles of 16-bit factors, see gemm_bf16.h. As in gemm.inl there is one function for each number of rows and
// of vectors in a row, whose sums stay in registers. A source that includes this file defines Products.
#pragma once

#include <cstring>

#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kColumns = kGemmVectors * kLanes;

template <size_t kR, size_t kV>
using Sums = F32[kR][kV];

// add(sums, a, b, depth) adds the products of rows that begin at a[i] with a panel.
template <size_t kR, size_t kV>
struct Products;

template <size_t kR, size_t kV>
void multiply_tile(const GemmTile16& tile) {
  Sums<kR, kV> sums;
  RL_UNROLL for (size_t r = 0; r < kR; ++r) {
    RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[r][v] = splat(0.0f);
  }
  const uint16_t* a[kR];
  RL_UNROLL for (size_t r = 0; r < kR; ++r) a[r] = tile.a[r] + tile.a_offset;
  Products<kR, kV>::add(sums, a, tile.b, tile.depth);
  RL_UNROLL for (size_t r = 0; r < kR; ++r) {
    float* c = tile.c + static_cast<ptrdiff_t>(r) * tile.c_stride;
    RL_UNROLL for (size_t v = 0; v < kV; ++v) store(c + v * kLanes, sums[r][v]);
  }
  if (!(tile.low > -__builtin_inff()) && !(tile.high < __builtin_inff())) return;
  for (size_t r = 0; r < kR; ++r) {
    float* c = tile.c + static_cast<ptrdiff_t>(r) * tile.c_stride;
    for (size_t v = 0; v < kV; ++v, c += kLanes) store(c, at_most(at_least(load(c), tile.low), tile.high));
  }
}

// Tiles of 1 to kR rows whose vectors are multiples of kUnit.
template <size_t kR, size_t kUnit>
void multiply_tiles(const GemmTile16& tile) {
  using Function = void (*)(const GemmTile16&);
  static_assert(kGemmVectors == 4);
  if constexpr (kR > 1) {
    if (tile.rows < kR) return multiply_tiles<kR - 1, kUnit>(tile);
  }
  constexpr Function kFunctions[] = {&multiply_tile<kR, kUnit>, &multiply_tile < kR,  kUnit == 1 ? 2 : 4 >,
                                     &multiply_tile < kR,       kUnit == 1 ? 3 : 4 >, &multiply_tile<kR, 4>};
  kFunctions[(tile.columns - 1) / (kUnit * kLanes)](tile);
}

// Copies a row of `columns` elements, with zeros up to kColumns.
RL_INLINE void copy_padded(uint16_t* to, const uint16_t* from, size_t columns) {
  constexpr size_t kBytes = kColumns * sizeof(uint16_t);
  if (columns == kColumns) {
    std::memcpy(to, from, kBytes);
    return;
  }
  std::memset(to, 0, kBytes);
  std::memcpy(to, from, columns * sizeof(uint16_t));
}

// Rows of a group.
template <size_t kGroup>
using GroupRows = uint16_t[kGroup][kColumns];

// kGroup elements of the depth of each column are adjacent. interleave(panel, rows) packs contiguous rows;
// contiguous columns are copied group by group.
template <size_t kGroup, class Interleave>
void pack_groups(uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                 size_t depth, size_t columns, Interleave interleave) {
  const auto at = [](size_t index, ptrdiff_t stride) { return static_cast<ptrdiff_t>(index) * stride; };
  for (size_t p = 0; p < depth; p += kGroup, panel += kGroup * kColumns) {
    const uint16_t* from = b + at(p, row_stride);
    const size_t count = depth - p < kGroup ? depth - p : kGroup;
    if (column_stride == 1) {
      GroupRows<kGroup> rows;
      for (size_t i = 0; i < count; ++i) copy_padded(rows[i], from + at(i, row_stride), columns);
      for (size_t i = count; i < kGroup; ++i) std::memset(rows[i], 0, sizeof(rows[i]));
      interleave(panel, rows);
      continue;
    }
    std::memset(panel + kGroup * columns, 0, kGroup * (kColumns - columns) * sizeof(uint16_t));
    for (size_t j = 0; j < columns; ++j) {
      const uint16_t* column = from + at(j, column_stride);
      uint16_t* to = panel + kGroup * j;
      if (row_stride == 1 && count == kGroup) {
        std::memcpy(to, column, kGroup * sizeof(uint16_t));
      } else {
        for (size_t i = 0; i < kGroup; ++i) to[i] = i < count ? column[at(i, row_stride)] : uint16_t{0};
      }
    }
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
