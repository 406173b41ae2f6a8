// SPDX-License-Identifier: BSD-3-Clause
// Both products reuse the tiles of kernels/ukernel/gemm.h. Values are read in place: they are the right-hand
// side of a product in the layout that the tile expects.
#include "kernels/host/attention/tiles.h"

#include <algorithm>

#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

namespace {

const float* row_of(const FloatRows& rows, size_t row) {
  return rows.data + static_cast<ptrdiff_t>(row) * rows.row;
}

}  // namespace

// To [panel][depth][columns]: keys are the columns of the right factor of query times key^T.
void pack_keys(const FloatRows& keys, size_t count, size_t depth, float* packed) {
  const size_t panel = ukernel::gemm_columns();
  for (size_t key = 0; key < count; key += panel) {
    ukernel::gemm_pack(packed + key * depth, row_of(keys, key), keys.column, keys.row, depth,
                       std::min(count - key, panel), panel);
  }
}

void score_tiles(const FloatRows& queries, size_t rows, const float* packed, size_t count, size_t depth,
                 float* scores, size_t stride) {
  // Panels are the outer loop: a panel stays in the L1 cache for all rows.
  const size_t panel = ukernel::gemm_columns();
  const size_t most = ukernel::gemm_split(rows);
  const float* pointers[ukernel::kMostGemmRows];
  ukernel::GemmTile tile;
  tile.depth = depth;
  tile.a = pointers;
  tile.a_step = queries.column;
  tile.b_stride = static_cast<ptrdiff_t>(panel);
  tile.b_columns = panel;
  tile.c_stride = static_cast<ptrdiff_t>(stride);
  for (size_t key = 0; key < count; key += panel) {
    tile.b = packed + key * depth;
    tile.columns = std::min(count - key, panel);
    for (size_t r = 0; r < rows; r += most) {
      tile.rows = std::min(rows - r, most);
      for (size_t i = 0; i < tile.rows; ++i) pointers[i] = row_of(queries, r + i);
      tile.c = scores + r * stride + key;
      ukernel::gemm_tile(tile);
    }
  }
}

void add_value_tiles(const float* weights, size_t stride, size_t rows, const FloatRows& values, size_t count,
                     size_t width, bool begins, float* out, ptrdiff_t out_stride) {
  const size_t panel = ukernel::gemm_columns();
  const size_t most = ukernel::gemm_split(rows);
  const float* pointers[ukernel::kMostGemmRows];
  ukernel::GemmTile tile;
  tile.depth = count;
  tile.a = pointers;
  tile.b_stride = values.row;
  tile.c_stride = out_stride;
  // The first block of keys overwrites the result, later ones add to it.
  tile.initial_from = begins ? ukernel::GemmInitial::kZero : ukernel::GemmInitial::kC;
  for (size_t column = 0; column < width; column += panel) {
    tile.b = values.data + column;
    tile.b_columns = width - column;
    tile.columns = std::min(tile.b_columns, panel);
    for (size_t r = 0; r < rows; r += most) {
      tile.rows = std::min(rows - r, most);
      for (size_t i = 0; i < tile.rows; ++i) pointers[i] = weights + (r + i) * stride;
      tile.c = out + static_cast<ptrdiff_t>(r) * out_stride + column;
      ukernel::gemm_tile(tile);
    }
  }
}

}  // namespace rushlight::kernels::host
