// SPDX-License-Identifier: BSD-3-Clause
// A piece is all channels of one window (channels-last), or a span of equal windows of one row
// (channels-first); any other layout is one window at a time.
#include "kernels/host/pooling/pool_pieces.h"

#include "kernels/host/pooling/converted_planes.h"

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
  row_step_ = pool.volume.strides[3] / size_ * static_cast<ptrdiff_t>(pool.windows[1].dilation);
  column_step_ = pool.volume.strides[4] / size_ * static_cast<ptrdiff_t>(pool.windows[2].dilation);
  ptrdiff_t at[kVolume + 2] = {};
  for (; kept_rows_ < kKept && at[3] < pool.pooled.sizes[3]; ++at[3]) {
    rows_[kept_rows_++] = pool.tiling(pool, 1, at);
  }
  while (kept_columns_ < kKept && at[4] < pool.pooled.sizes[4]) {
    const Columns columns = columns_at(at);
    columns_[kept_columns_++] = columns;
    at[4] += static_cast<ptrdiff_t>(columns.windows);
  }
}

// Windows at a border, which see fewer elements, are pieces of one window.
PoolPieces::Columns PoolPieces::columns_at(const ptrdiff_t* at) const {
  const Extent extent = pool_.tiling(pool_, 2, at);
  return {extent, windows_ ? count_alike(pool_.windows[2], at[4], extent) : 1};
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
  const auto y = static_cast<size_t>(row->at[3]);
  row->rows = y < kept_rows_ ? rows_[y] : pool_.tiling(pool_, 1, row->at);
  row->piece.row = static_cast<ptrdiff_t>(row->rows.begin);
  row->at[4] = 0;
  row->number = 0;
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
  const ptrdiff_t step = static_cast<ptrdiff_t>(pool_.windows[2].step);
  const View& volume = pool_.volume;
  const size_t number = row->number++;
  const auto [extent, windows] = number < kept_columns_ ? columns_[number] : columns_at(row->at);
  PoolPiece& piece = row->piece;
  piece.count = channels_ ? static_cast<size_t>(volume.sizes[1]) : windows;
  // Strides of a window in elements: from row to row, from column to column, and from result to result.
  piece.window = {static_cast<size_t>(row->rows.count > 0 ? row->rows.count : 0),
                  static_cast<size_t>(extent.count > 0 ? extent.count : 0), row_step_, column_step_,
                  channels_ ? 1 : step};
  piece.apart = channels_ ? 0 : step;
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

bool pool_converted_planes(KernelContext& context, const Pool& pool,
                           void (*compute)(KernelContext&, const Pool&)) {
  const bool has_indices = pool.indices.data != nullptr;
  if (!widens(pool.volume.type) || !has_small_planes(pool.volume) || !has_small_planes(pool.pooled) ||
      (has_indices && !has_small_planes(pool.indices))) {
    return false;
  }
  for_each_block(context, pool.volume, pool.pooled, [&](const PlaneBlock& block) {
    Pool part = pool;
    const auto move = [&](View* view, const void* data, size_t plane, size_t element) {
      view->data = static_cast<char*>(const_cast<void*>(data));
      const auto times = static_cast<ptrdiff_t>(element / element_size(view->type));
      for (size_t d = 0; d < view->dim; ++d) view->strides[d] *= times;  // the others hold nothing
      view->strides[1] = static_cast<ptrdiff_t>(plane * element);
      view->sizes[0] = 1;
      view->sizes[1] = static_cast<SizesType>(block.planes);
    };
    move(&part.volume, block.from, block.in, sizeof(float));
    move(&part.pooled, block.to, block.out, sizeof(float));
    part.volume.type = part.pooled.type = ScalarType::Float;
    const size_t done = block.first * block.out;
    if (has_indices) {
      move(&part.indices, pool.indices.data + done * sizeof(int64_t), block.out, sizeof(int64_t));
    }
    KernelContext alone;
    compute(alone, part);
  });
  return true;
}

}  // namespace rushlight::kernels::host
