// SPDX-License-Identifier: BSD-3-Clause
// Division of a two-dimensional pool, [N, C, H, W] or [C, H, W] in any dim order, into microkernel calls: all
// channels of a position if they are adjacent, else a row of results if those are adjacent, else one result.
#pragma once

#include <cstdint>

#include "kernels/geometry/region.h"
#include "kernels/ukernel/pool.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Adjacent results and the windows that they cover. All windows of a piece have the same shape.
struct PoolPiece {
  size_t count;
  ukernel::PoolWindow window;  // strides in elements
  // The first window's first element, the first result and its index; results follow each other in memory.
  const void* x;
  void* y;
  int64_t* index;  // null if the pool has none
  ptrdiff_t row;   // position of the first window's first element
  ptrdiff_t column;
  ptrdiff_t apart;  // columns from window to window; 0 if results are channels
  int64_t padded;   // elements of a window including padding, if dilation is 1
};

// Keeps references to the pool and the context.
class PoolPieces {
 public:
  // Precondition: the pool has two spatial dimensions.
  PoolPieces(const Pool& pool, KernelContext& context);

  // Calls pool_piece(piece) for all results, concurrently on several threads.
  template <class F>
  void for_each_piece(F pool_piece) const {
    const size_t rows =
        static_cast<size_t>(pool_.pooled.sizes[0]) * planes_ * static_cast<size_t>(pool_.pooled.sizes[3]);
    context_.parallel_for(rows, grain_, [&](size_t begin, size_t end, size_t) {
      Row row = row_at(begin);
      for (size_t left = end - begin; left > 0; --left) {
        start(&row);
        while (next(&row)) pool_piece(row.piece);
        move_on(&row);
      }
    });
  }

 private:
  struct Row {
    ptrdiff_t at[kVolume + 2];  // n, c, 0, y, and the next x
    Extent rows;
    size_t number;  // of the next piece in the row
    PoolPiece piece;
  };
  // The windows of a piece in the dimension of columns.
  struct Columns {
    Extent extent;
    size_t windows;
  };
  [[nodiscard]] Columns columns_at(const ptrdiff_t* at) const;
  // The first piece of row number `row`; rows are numbered by batch, plane and y.
  [[nodiscard]] Row row_at(size_t row) const;
  // start(): goes to the first piece of the row. move_on(): goes to the next row.
  void start(Row* row) const;
  void move_on(Row* row) const;
  // Goes to the next piece of the row; returns false at its end.
  [[nodiscard]] bool next(Row* row) const;

  const Pool& pool_;
  KernelContext& context_;
  ptrdiff_t size_;  // of an element, in bytes
  bool channels_;   // a piece has all channels of a position
  bool windows_;    // a piece has several windows of a row
  size_t planes_;
  size_t grain_;
  // Elements of the volume from row to row, and from column to column, of a window.
  ptrdiff_t row_step_;
  ptrdiff_t column_step_;
  // The first rows and pieces of a plane: all planes share them, and small planes have no others. Computing
  // an extent takes as long as pooling a small window.
  static constexpr size_t kKept = 8;
  size_t kept_rows_ = 0;
  size_t kept_columns_ = 0;
  Extent rows_[kKept];
  Columns columns_[kKept];
};

// Computes a pool of small planes of 16-bit floats by compute(context, pool) of float32; returns false if the
// pool is another one.
bool pool_converted_planes(KernelContext& context, const Pool& pool,
                           void (*compute)(KernelContext&, const Pool&));

}  // namespace rushlight::kernels::host
