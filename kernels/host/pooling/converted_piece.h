// SPDX-License-Identifier: BSD-3-Clause
// Pools of 16-bit floats by the microkernels for float32: the rows of the windows of a piece are converted on
// the stack, a part of the results and rows at a time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/host/elements.h"
#include "kernels/host/pooling/pool_pieces.h"

namespace rushlight::kernels::host {

// Converted rows of some windows of a piece.
struct ConvertedRows {
  const float* x;
  ukernel::PoolWindow window;  // of float32
  size_t first_row;
  size_t first_column;
};

// A piece whose elements have the dtype `type`.
class ConvertedPiece {
 public:
  static constexpr size_t kMostResults = 256;  // of a part

  ConvertedPiece(const PoolPiece& piece, ScalarType type)
      : piece_(piece),
        window_(piece.window),
        type_(type),
        in_bytes_(static_cast<ptrdiff_t>(element_size(type))) {
    // A window of adjacent rows is one row, as in global pooling.
    const bool is_one =
        piece.count == 1 && window_.column == 1 && window_.row == static_cast<ptrdiff_t>(window_.columns);
    if (!is_one || window_.rows * window_.columns > kFloats) return;
    window_.columns *= window_.rows;
    window_.rows = 1;
  }

  // Calls begin(count), then add(rows) for all rows of the windows, then end(first, count), for parts of at
  // most kMostResults results.
  template <class Begin, class Add, class End>
  void for_each_part(Begin begin, Add add, End end) const {
    for (size_t first = 0; first < piece_.count;) {
      size_t count = std::min(piece_.count - first, kMostResults);
      // Halves the part until a row fits.
      while (count > 1 && span_of(count, window_.columns) > kFloats) count = (count + 1) / 2;
      begin(count);
      add_rows(first, count, add);
      end(first, count);
      first += count;
    }
  }

 private:
  static constexpr size_t kFloats = 4096;

  // Elements from the first to the last one of a row of `count` windows.
  [[nodiscard]] size_t span_of(size_t count, size_t columns) const {
    const auto last = static_cast<ptrdiff_t>(columns - 1) * window_.column +
                      static_cast<ptrdiff_t>(count - 1) * window_.lane;
    return columns == 0 ? 0 : static_cast<size_t>(last) + 1;
  }

  template <class Add>
  void add_rows(size_t first, size_t count, Add add) const {
    alignas(64) float floats[kFloats];
    const ptrdiff_t start = static_cast<ptrdiff_t>(first) * window_.lane;
    // One column at a time if the elements of a row are far apart.
    const bool is_apart = span_of(count, window_.columns) > kFloats;
    const size_t columns = is_apart ? 1 : window_.columns;
    const size_t span = is_apart ? count : span_of(count, columns);
    const size_t rows = is_apart ? 1 : kFloats / std::max<size_t>(span, 1);
    for (size_t row = 0; row < window_.rows; row += rows) {
      for (size_t column = 0; column < window_.columns; column += columns) {
        const size_t taken = std::min(rows, window_.rows - row);
        for (size_t r = 0; r < taken; ++r) {
          const ptrdiff_t at = start + static_cast<ptrdiff_t>(row + r) * window_.row +
                               static_cast<ptrdiff_t>(column) * window_.column;
          load_floats(floats + r * span, type_, static_cast<const char*>(piece_.x) + at * in_bytes_,
                      is_apart ? window_.lane : 1, span);
        }
        add(ConvertedRows{floats,
                          {taken, columns, static_cast<ptrdiff_t>(span), window_.column,
                           is_apart ? ptrdiff_t{1} : window_.lane},
                          row,
                          column});
      }
    }
  }

  const PoolPiece& piece_;
  ukernel::PoolWindow window_;
  ScalarType type_;
  ptrdiff_t in_bytes_;  // of an element
};

}  // namespace rushlight::kernels::host
