// SPDX-License-Identifier: BSD-3-Clause
// What outputs of a convolution see, as a pointer for each tap.
#pragma once

#include <cstddef>

#include "kernels/geometry/convolution_geometry.h"
#include "kernels/geometry/patches.h"

namespace rushlight::kernels {

// Where outputs see the input through each tap; `outside` for taps that see none. The pointers of an output
// that has no border of its own are those of the one before it, or above it, moved.
template <class T>
class TapFinder {
 public:
  TapFinder(const ConvolutionGeometry& g, const T* outside) : g_(g), outside_(outside) {
    const ConvolutionAxis& row = g.axes[2];
    const ptrdiff_t reach = (row.kernel - 1) * row.dilation;
    begin_ = (row.pad + row.step - 1) / row.step;
    end_ = g.transposed || row.in <= reach ? 0 : (row.in - 1 - reach + row.pad) / row.step + 1;
    advance_ = row.step * row.in_stride;
    row_advance_ = g.axes[1].step * g.axes[1].in_stride;
  }

  // Outputs of a row from `at` on that see the input through all taps: each next one so much further on.
  [[nodiscard]] ptrdiff_t count_inside(const ptrdiff_t* at) const {
    if (at[2] < begin_ || at[2] >= end_) return 0;
    return sees_rows(0, at[0]) && sees_rows(1, at[1]) ? end_ - at[2] : 0;
  }
  [[nodiscard]] ptrdiff_t advance() const { return advance_; }
  // Outputs of a row that no border of it concerns, and how many outputs there are from `at` on before the
  // next ones of them begin.
  [[nodiscard]] ptrdiff_t length() const { return end_ - begin_; }
  [[nodiscard]] ptrdiff_t count_before(const ptrdiff_t* at) const {
    return begin_ - at[2] + (at[2] < begin_ ? 0 : g_.axes[2].out);
  }

  // Of `count` outputs from `position` on, which moves behind them; `in` is at the channel. Returns whether
  // all taps see the input.
  bool find(const T* in, OutputPositions& position, ptrdiff_t count, const T** to) const {
    const ptrdiff_t taps = g_.taps();
    bool inside = true;
    const ptrdiff_t row = g_.axes[2].out;
    for (ptrdiff_t i = 0; i < count; ++i, to += taps, position.next()) {
      const ptrdiff_t column = position.at()[2];
      if (i > 0 && column > begin_ && column < end_) {
        move(to - taps, advance_, to);
      } else if (i >= row && continues_row(position.at())) {
        move(to - row * taps, row_advance_, to);
      } else {
        inside = find_one(in, position.at(), to) && inside;
      }
    }
    return inside;
  }

 private:
  // Whether the row before has no border above or below, nor has this one.
  [[nodiscard]] bool continues_row(const ptrdiff_t* at) const {
    return at[1] > 0 && sees_rows(1, at[1] - 1) && sees_rows(1, at[1]);
  }
  [[nodiscard]] bool sees_rows(size_t i, ptrdiff_t at) const {
    const ConvolutionAxis& axis = g_.axes[i];
    const ptrdiff_t first = first_position(axis, at, false);
    return !g_.transposed && first >= 0 && first + (axis.kernel - 1) * axis.dilation < axis.in;
  }

  // The pointers of an output from those of another one.
  void move(const T* const* from, ptrdiff_t advance, const T** to) const {
    const T* const outside = outside_;
    for (const T* const* const end = from + g_.taps(); from != end; ++from) {
      const T* pointer = *from;
      if (pointer != outside) pointer += advance;
      *to++ = pointer;
    }
  }

  bool find_one(const T* in, const ptrdiff_t* at, const T** to) const {
    if (g_.transposed) return find_upsampled(in, at, to);
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t position = first_position(row, at[2], false);
    const ptrdiff_t first1 = first_position(g_.axes[1], at[1], false);
    ptrdiff_t in0 = first_position(g_.axes[0], at[0], false);
    // Taps before the row and those that are not behind it.
    ptrdiff_t before = 0, seen = row.kernel;
    for (ptrdiff_t x = position; x < 0 && before < seen; x += row.dilation) ++before;
    for (ptrdiff_t x = position + (row.kernel - 1) * row.dilation; x >= row.in && before < seen;
         x -= row.dilation)
      --seen;
    bool inside = before == 0 && seen == row.kernel;
    const ptrdiff_t offset = (position + before * row.dilation) * row.in_stride;
    for (ptrdiff_t k0 = g_.axes[0].kernel; k0 > 0; --k0, in0 += g_.axes[0].dilation) {
      ptrdiff_t in1 = first1;
      for (ptrdiff_t k1 = g_.axes[1].kernel; k1 > 0; --k1, in1 += g_.axes[1].dilation, to += row.kernel) {
        // Positions outside of an axis are large as unsigned numbers.
        const bool is_row = static_cast<size_t>(in0) < static_cast<size_t>(g_.axes[0].in) &&
                            static_cast<size_t>(in1) < static_cast<size_t>(g_.axes[1].in);
        inside = inside && is_row;
        const T* first =
            is_row ? in + (in0 * g_.axes[0].in_stride + in1 * g_.axes[1].in_stride + offset) : outside_;
        find_row(first, is_row ? before : row.kernel, seen, row, to);
      }
    }
    return inside;
  }

  // Taps from `before` to `seen` see the input. Apart from its caller, for what it needs to stay in
  // registers.
  [[gnu::noinline]] void find_row(const T* first, ptrdiff_t before, ptrdiff_t seen,
                                  const ConvolutionAxis& row, const T** to) const {
    const T* const outside = outside_;
    const T** const end = to + row.kernel;
    const T** const last = to + seen;
    const ptrdiff_t step = row.dilation * row.in_stride;
    for (const T** const start = to + before; to != start;) *to++ = outside;
    for (; to < last; first += step) *to++ = first;
    while (to < end) *to++ = outside;
  }

  // Of an input that is spread by the steps.
  [[gnu::noinline]] bool find_upsampled(const T* in, const ptrdiff_t* at, const T** to) const {
    bool inside = true;
    ptrdiff_t k[kSpatial];
    for (k[0] = 0; k[0] < g_.axes[0].kernel; ++k[0]) {
      for (k[1] = 0; k[1] < g_.axes[1].kernel; ++k[1]) {
        for (k[2] = 0; k[2] < g_.axes[2].kernel; ++k[2]) {
          const T* from = in;
          bool seen = true;
          for (size_t i = 0; i < kSpatial; ++i) {
            const ConvolutionAxis& axis = g_.axes[i];
            const ptrdiff_t position = input_at(axis, first_position(axis, at[i], true), k[i], true);
            seen = seen && position >= 0;
            if (seen) from += position * axis.in_stride;
          }
          *to++ = seen ? from : outside_;
          inside = inside && seen;
        }
      }
    }
    return inside;
  }

  const ConvolutionGeometry& g_;
  const T* outside_;
  ptrdiff_t begin_;  // outputs of a row that see all of it, but the first
  ptrdiff_t end_;
  ptrdiff_t advance_;
  ptrdiff_t row_advance_;
};

}  // namespace rushlight::kernels
