// SPDX-License-Identifier: BSD-3-Clause
// Tiles of float32, see gemm.inl.
#include "kernels/ukernel/generic/gemm.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Sums at a time: a latency of 4 cycles at 2 multiply-adds a cycle.
constexpr size_t kRowSums = 8;

// The sums of one row with adjacent panels.
template <size_t kPanels>
struct Row {
  static constexpr size_t kSums = kPanels * kVectors;

  // Adds a[0] times a row of the panels.
  RL_INLINE void add(const float* a, const float* const* panels) {
    const F32 factor = splat(*a);
    RL_UNROLL for (size_t v = 0; v < kSums; ++v) {
      sums[v] = multiply_add(factor, load(panels[v / kVectors] + v % kVectors * kLanes), sums[v]);
    }
  }
  // Adds kLanes elements of A times as many rows of the panels.
  template <size_t... kLane>
  RL_INLINE void add_lanes(std::index_sequence<kLane...>, const float* a, const float* const* panels) {
    const F32 factors = load(a);
    (add_lane<kLane>(factors, panels), ...);
  }
  template <size_t kLane>
  RL_INLINE void add_lane(F32 factors, const float* const* panels) {
    F32 row[kSums];
    RL_UNROLL for (size_t v = 0; v < kSums; ++v) {
      row[v] = load(panels[v / kVectors] + kLane * kColumns<float> + v % kVectors * kLanes);
    }
    keep_loads_together();
    RL_UNROLL for (size_t v = 0; v < kSums; ++v) sums[v] = multiply_add_lane<kLane>(factors, row[v], sums[v]);
  }

  F32 sums[kSums];
};

template <size_t kPanels>
void multiply_row(size_t depth, const float* a, const float* b, ptrdiff_t panel_stride, bool continues,
                  float* c) {
  const float* panels[kPanels];
  RL_UNROLL for (size_t i = 0; i < kPanels; ++i) panels[i] = row_of(b, panel_stride, i);
  const auto advance = [&](size_t rows) {
    RL_UNROLL for (const float*& panel : panels) panel += rows * kColumns<float>;
  };
  Row<kPanels> row;
  RL_UNROLL for (F32& sum : row.sums) sum = splat(0.0f);
  if (continues) {
    RL_UNROLL for (size_t v = 0; v < Row<kPanels>::kSums; ++v) row.sums[v] = load(c + v * kLanes);
  }
  size_t p = 0;
  if constexpr (kByLane<float>) {
    for (; p + kLanes <= depth; p += kLanes, advance(kLanes)) {
      row.add_lanes(std::make_index_sequence<kLanes>(), a + p, panels);
    }
  }
  for (; p < depth; ++p, advance(1)) row.add(a + p, panels);
  RL_UNROLL for (size_t v = 0; v < Row<kPanels>::kSums; ++v) store(c + v * kLanes, row.sums[v]);
}

}  // namespace

size_t gemm_rows() { return kRows; }
size_t gemm_rows_of(size_t columns) {
  return columns <= kNarrow * kLanes && has_tile<float>(kMostRows, columns) ? kMostRows : kRows;
}
size_t gemm_columns() { return kColumns<float>; }
size_t gemm_lanes() { return kLanes; }

void gemm_tile(const GemmTile& tile) { compute_tile(tile); }

void gemm_strip(const GemmStrip& given) {
  GemmStrip strip = given;
  const size_t most = gemm_rows_of(strip.columns);
  while (strip.rows > 0) {
    // Tiles of about equal rows; the first `count` tiles have one row more.
    const size_t tiles = (strip.rows + most - 1) / most;
    size_t rows = (strip.rows + tiles - 1) / tiles;
    size_t count = tiles - (rows * tiles - strip.rows);
    if (strip.tile_rows != 0) {
      rows = strip.tile_rows < strip.rows ? strip.tile_rows : strip.rows;
      count = strip.rows / rows;
    }
    if (!has_tile<float>(rows, strip.columns)) {
      GemmStrip row = strip;
      row.rows = 1;
      compute_copied(row);
      step(strip, 1);
      continue;
    }
    if (kMasks || strip.columns % kLanes == 0) {
      function_for<ManyTiles<float>>(rows, strip.columns)(strip, count);
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      GemmStrip tile = strip;
      tile.rows = rows;
      compute_padded(tile);
      step(strip, rows);
    }
  }
}

void gemm_row(size_t panels, size_t depth, const float* a, const float* b, ptrdiff_t panel_stride,
              bool continues, float* c) {
  constexpr size_t kTogether = kRowSums > kVectors ? kRowSums / kVectors : 1;
  for (; panels >= kTogether; panels -= kTogether) {
    multiply_row<kTogether>(depth, a, b, panel_stride, continues, c);
    b = row_of(b, panel_stride, kTogether);
    c += kTogether * kColumns<float>;
  }
  for (; panels > 0; --panels, b += panel_stride, c += kColumns<float>) {
    multiply_row<1>(depth, a, b, panel_stride, continues, c);
  }
}

void gemm_pack(float* panel, const float* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns, size_t width) {
  pack_panel(panel, b, row_stride, column_stride, depth, columns, width);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
