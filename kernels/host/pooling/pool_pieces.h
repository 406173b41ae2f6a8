// SPDX-License-Identifier: BSD-3-Clause
// Pools over rows and columns of tensors of one dtype, [N, C, H, W] or [C, H, W] in any dim order: all
// channels of a position at once where they follow each other, a row of results at once where those do,
// otherwise each by itself.
#pragma once

#include <cstdint>

#include "kernels/geometry/region.h"
#include "kernels/ukernel/pool.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Results that lie side by side, and what they are made of.
struct PoolPiece {
  size_t count;
  ukernel::PoolWindow window;  // steps in elements
  const void* x;
  void* y;
  int64_t* index;  // null where there are none
  ptrdiff_t row;   // position of the first window's first element
  ptrdiff_t column;
  ptrdiff_t apart;  // columns from one window to the next; 0 where results are channels
  int64_t padded;   // elements of a window with those in the padding, where dilation is 1
};

class PoolPieces {
 public:
  // Of a pool that sees two dimensions.
  PoolPieces(const Pool& pool, KernelContext& context);

  // pool_piece(piece) for all results.
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
    ptrdiff_t at[kVolume + 2];  // n, c, 0, y, and the x that comes next
    Extent rows;
    PoolPiece piece;
  };
  [[nodiscard]] Row row_at(size_t row) const;
  // To the first piece of the row; to the row that follows.
  void start(Row* row) const;
  void move_on(Row* row) const;
  // Goes on to the next piece of the row; false when there is none.
  [[nodiscard]] bool next(Row* row) const;

  const Pool& pool_;
  KernelContext& context_;
  ptrdiff_t size_;  // of an element
  bool channels_;   // whether all channels of a position are done at once
  bool windows_;    // whether a row of windows is
  size_t planes_;
  size_t grain_;
};

}  // namespace rushlight::kernels::host
