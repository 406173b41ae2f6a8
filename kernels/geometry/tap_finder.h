// SPDX-License-Identifier: BSD-3-Clause
// Indirect convolution: a pointer to the input for each tap of each output, instead of an im2col copy.
// Finding a pointer costs index arithmetic and border tests, so pointers are derived from the pointers
// of the previous output or row where no border interferes. Reference: Dukhan, "The Indirect Convolution
// Algorithm", 2019.
#pragma once

#include <cstddef>

#include "kernels/geometry/convolution_geometry.h"
#include "kernels/geometry/patches.h"

namespace rushlight::kernels {

// The pointers that a TapFinder found last, for consecutive outputs. The caller owns the memory of `taps`.
template <class T>
struct TapStrip {
  const T** taps;           // [count][taps]
  const T* line = nullptr;  // input line of the first output; null: not reusable (padding above or below)
  ptrdiff_t column = 0;
  ptrdiff_t count = 0;
  bool inside = false;  // no tap is in the padding
};

// Finds the input pointer of each tap of consecutive outputs; taps in the padding get `outside`. The pointers
// of an output away from the borders are the pointers of the output before it, or above it, plus a constant.
// A strip below another strip reuses that strip's pointers in the same way.
template <class T>
class TapFinder {
 public:
  // `outside` is the element that taps in the padding read; it must outlive the finder, and so must `g`.
  TapFinder(const ConvolutionGeometry& g, const T* outside) : g_(g), outside_(outside) {
    // Outputs in [begin, end) see no padding: output * step - pad >= 0, and the last tap of the output is
    // below `in`. Empty for transposed convolutions, in which neighbors see different taps.
    for (size_t i = 0; i < kSpatial; ++i) {
      const ConvolutionAxis& axis = g.axes[i];
      const ptrdiff_t reach = (axis.kernel - 1) * axis.dilation;
      begin_[i] = (axis.pad + axis.step - 1) / axis.step;
      end_[i] = g.transposed || axis.in <= reach ? 0 : (axis.in - 1 - reach + axis.pad) / axis.step + 1;
      advance_[i] = axis.step * axis.in_stride;
    }
  }

  // The number of outputs of the row from `at` on whose taps are all inside the input; each is advance()
  // further. These outputs can share the pointers of the first. 0 if the first has a tap in the padding.
  [[nodiscard]] ptrdiff_t count_inside(const ptrdiff_t* at) const {
    return is_inner(0, at[0]) && is_inner(1, at[1]) && is_inner(2, at[2]) ? end_[2] - at[2] : 0;
  }
  [[nodiscard]] ptrdiff_t advance() const { return advance_[2]; }
  // length(): outputs of a row that no border of the row affects. count_before(): outputs from `at` on until
  // the next such outputs begin.
  [[nodiscard]] ptrdiff_t length() const { return end_[2] - begin_[2]; }
  [[nodiscard]] ptrdiff_t count_before(const ptrdiff_t* at) const {
    return begin_[2] - at[2] + (at[2] < begin_[2] ? 0 : g_.axes[2].out);
  }

  // Finds the pointers of `count` outputs from `position` on and advances `position` past them; `in` points
  // to the channel. `strip` holds the pointers of the previous call, or is new. Returns true if no tap is in
  // the padding. Cost: one addition for each tap away from the borders, otherwise index arithmetic for each
  // row of taps.
  bool find(const T* in, OutputPositions& position, ptrdiff_t count, TapStrip<T>& strip) const {
    const ptrdiff_t taps = g_.taps();
    const ptrdiff_t* const at = position.at();
    const ptrdiff_t column = at[2];
    const T* const line = sees_lines(at, count) ? in + at[0] * advance_[0] + at[1] * advance_[1] : nullptr;
    // The same columns of a line further down: all pointers differ from the previous ones by one constant,
    // and padding at the left and right stays padding.
    if (line != nullptr && strip.line != nullptr && strip.column == column && strip.count == count) {
      move(strip.taps, line - strip.line, count * taps, strip.taps);
      position.skip(count);
    } else {
      strip.inside = true;
      const T** to = strip.taps;
      const ptrdiff_t row = g_.axes[2].out;
      for (ptrdiff_t i = 0; i < count; ++i, to += taps, position.skip(1)) {
        // Inside the row, the output before gives the pointers, one step on; below the first inner line, the
        // output above does.
        if (i > 0 && at[2] > begin_[2] && at[2] < end_[2]) {
          move(to - taps, advance_[2], taps, to);
        } else if (i >= row && at[1] > begin_[1] && at[1] < end_[1]) {
          move(to - row * taps, advance_[1], taps, to);
        } else {
          strip.inside = find_one(in, at, to) && strip.inside;
        }
      }
      strip.column = column;
      strip.count = count;
    }
    strip.line = line;
    return strip.inside;
  }

  // Writes the pointers plus `advance`, possibly in place; pointers to `outside` stay. noinline for the same
  // reason as find_row().
  [[gnu::noinline]] void move(const T* const* from, ptrdiff_t advance, ptrdiff_t count, const T** to) const {
    const T* const outside = outside_;
    for (const T* const* const end = from + count; from != end; ++from) {
      const T* pointer = *from;
      if (pointer != outside) pointer += advance;
      *to++ = pointer;
    }
  }

 private:
  // True if the rows of these outputs have no padding above or below.
  [[nodiscard]] bool sees_lines(const ptrdiff_t* at, ptrdiff_t count) const {
    // The range may cover several lines; both the first and the last must be inner ones.
    const ptrdiff_t last = at[1] + (at[2] + count - 1) / g_.axes[2].out;
    return is_inner(0, at[0]) && at[1] >= begin_[1] && last < end_[1];
  }
  // True if no border of the axis affects the output.
  [[nodiscard]] bool is_inner(size_t i, ptrdiff_t at) const { return at >= begin_[i] && at < end_[i]; }

  // Finds the pointers of one output from its position, with border tests for each row of taps.
  bool find_one(const T* in, const ptrdiff_t* at, const T** to) const {
    if (g_.transposed) return find_upsampled(in, at, to);
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t position = first_position(row, at[2], false);
    const ptrdiff_t first1 = first_position(g_.axes[1], at[1], false);
    ptrdiff_t in0 = first_position(g_.axes[0], at[0], false);
    // Taps [before, seen) are inside the row.
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
        // Negative positions are large as unsigned values, so one comparison tests both limits.
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

  // Taps [before, seen) of a row see the input, from `first` on; the others get `outside`. noinline, so that
  // the variables of the loops stay in registers.
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

  // Transposed convolution: the input is spread by the steps, and taps that fall into the gaps get `outside`.
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
  // Elements for taps in the padding, compared by address: it must not lie in the input.
  const T* outside_;
  // For each axis: the outputs [begin, end) that no border affects, and the input stride from output to
  // output.
  ptrdiff_t begin_[kSpatial];
  ptrdiff_t end_[kSpatial];
  ptrdiff_t advance_[kSpatial];
};

}  // namespace rushlight::kernels
