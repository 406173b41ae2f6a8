// SPDX-License-Identifier: BSD-3-Clause
// A piece is all channels of one window (channels-last), or a span of equal windows of one row
// (channels-first); any other layout is one window at a time.
#include "kernels/host/pooling/pool_pieces.h"

namespace rushlight::kernels::host {

namespace {

// True if results that are adjacent in dimension d are adjacent in memory.
bool follows(const Pool& pool, size_t d, ptrdiff_t size) {
  const bool numbered = pool.indices.data == nullptr || pool.indices.strides[d] == ptrdiff_t{sizeof(int64_t)};
  return pool.pooled.strides[d] == size && numbered;
}

}  // namespace

PoolPieces::PoolPieces(const Pool& pool, KernelContext& context)
    : pool_(pool), context_(context), size_(static_cast<ptrdiff_t>(element_size(pool.volume.type))) {
  channels_ = pool.volume.sizes[1] > 1 && pool.volume.strides[1] == size_ && follows(pool, 1, size_);
  windows_ = !channels_ && pool.tiling == window_tiling && pool.volume.strides[4] == size_ &&
             follows(pool, 4, size_);
  planes_ = channels_ ? 1 : static_cast<size_t>(pool.pooled.sizes[1]);
  constexpr size_t kElements = 16384;  // worth another thread
  // About the number of inputs that a row of windows reads for the first time.
  const auto width = static_cast<size_t>(pool.volume.sizes[4] * pool.windows[1].step);
  const size_t each = width * (channels_ ? static_cast<size_t>(pool.pooled.sizes[1]) : 1);
  grain_ = kElements / (each + 1) + 1;
}

PoolPieces::Row PoolPieces::row_at(size_t row) const {
  const auto height = static_cast<size_t>(pool_.pooled.sizes[3]);
  const size_t plane = row / height;
  Row result{};
  result.at[0] = static_cast<ptrdiff_t>(plane / planes_);
  result.at[1] = static_cast<ptrdiff_t>(plane % planes_);
  result.at[3] = static_cast<ptrdiff_t>(row % height);
  return result;
}

// The vertical extent of windows is the same for a whole row of results.
void PoolPieces::start(Row* row) const {
  row->rows = pool_.tiling(pool_, 1, row->at);
  row->piece.row = static_cast<ptrdiff_t>(row->rows.begin);
  row->at[4] = 0;
}

void PoolPieces::move_on(Row* row) const {
  if (++row->at[3] < pool_.pooled.sizes[3]) return;
  row->at[3] = 0;
  if (++row->at[1] < static_cast<ptrdiff_t>(planes_)) return;
  row->at[1] = 0;
  ++row->at[0];
}

bool PoolPieces::next(Row* row) const {
  if (row->at[4] == pool_.pooled.sizes[4]) return false;
  const Window& rows = pool_.windows[1];
  const Window& columns = pool_.windows[2];
  const View& volume = pool_.volume;
  const Extent extent = pool_.tiling(pool_, 2, row->at);
  PoolPiece& piece = row->piece;
  // Windows at a border, which see fewer elements, are pieces of one window.
  const size_t windows = windows_ ? count_alike(columns, row->at[4], extent) : 1;
  piece.count = channels_ ? static_cast<size_t>(volume.sizes[1]) : windows;
  // Strides of a window in elements: from row to row, from column to column, and from result to result.
  piece.window = {static_cast<size_t>(row->rows.count > 0 ? row->rows.count : 0),
                  static_cast<size_t>(extent.count > 0 ? extent.count : 0),
                  volume.strides[3] / size_ * static_cast<ptrdiff_t>(rows.dilation),
                  volume.strides[4] / size_ * static_cast<ptrdiff_t>(columns.dilation),
                  channels_ ? 1 : static_cast<ptrdiff_t>(columns.step)};
  piece.apart = channels_ ? 0 : static_cast<ptrdiff_t>(columns.step);
  piece.column = static_cast<ptrdiff_t>(extent.begin);
  piece.padded = row->rows.padded * extent.padded;
  const auto element = [&](const View& view, ptrdiff_t y, ptrdiff_t x) -> char* {
    return volume_at(view, row->at[0], 0, y, x) + row->at[1] * view.strides[1];
  };
  piece.x = element(volume, piece.row, piece.column);
  piece.y = element(pool_.pooled, row->at[3], row->at[4]);
  piece.index = pool_.indices.data == nullptr
                    ? nullptr
                    : reinterpret_cast<int64_t*>(element(pool_.indices, row->at[3], row->at[4]));
  row->at[4] += static_cast<ptrdiff_t>(windows);
  return true;
}

}  // namespace rushlight::kernels::host
