// SPDX-License-Identifier: BSD-3-Clause
// Input pointers for each tap of adjacent outputs. Offsets along the last axis are computed once for a call,
// and offsets along the other axes once for a line of outputs, so a tap costs one addition. Serves strided,
// dilated and transposed convolutions alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/geometry/patches.h"

namespace rushlight::kernels::host {

// `offsets` is memory of bytes() that the caller provides: [outputs of a row][taps of a row], -1 for padding.
// Const after construction, so threads share it.
class TapTable {
 public:
  // Bytes of `offsets`.
  [[nodiscard]] static size_t bytes(const ConvolutionGeometry& g) {
    return static_cast<size_t>(g.axes[2].out * g.axes[2].kernel) * sizeof(ptrdiff_t);
  }
  TapTable(const ConvolutionGeometry& g, ptrdiff_t* offsets) : g_(g), offsets_(offsets) {
    const ConvolutionAxis& row = g.axes[2];
    for (ptrdiff_t x = 0; x < row.out; ++x) {
      const ptrdiff_t first = first_position(row, x, g.transposed);
      for (ptrdiff_t k = 0; k < row.kernel; ++k) {
        const ptrdiff_t at = input_at(row, first, k, g.transposed);
        *offsets++ = at < 0 ? -1 : at * row.in_stride;
      }
    }
  }

  // Writes pointers [count][taps] for outputs from `first` on. `in` points to the channel; taps in the
  // padding get `outside`. Precondition: at most kMostTaps taps.
  static constexpr ptrdiff_t kMostTaps = 256;
  void find(const int8_t* in, const int8_t* outside, ptrdiff_t first, ptrdiff_t count,
            const int8_t** to) const {
    // Lines are found once for each row of outputs, taps by adding the offsets of the output's column.
    const ptrdiff_t width = g_.axes[2].out, kernel = g_.axes[2].kernel;
    const ptrdiff_t lines = g_.axes[0].kernel * g_.axes[1].kernel;
    const int8_t* starts[kMostTaps];
    OutputPositions position(g_, first);
    ptrdiff_t x = first % width;
    find_lines(in, position.at(), starts);
    for (ptrdiff_t i = 0; i < count; ++i) {
      const ptrdiff_t* offsets = offsets_ + x * kernel;
      for (ptrdiff_t line = 0; line < lines; ++line) {
        const int8_t* start = starts[line];
        for (ptrdiff_t k = 0; k < kernel; ++k) {
          // Two tests for each tap: the line, and the position in the line.
          *to++ = start == nullptr || offsets[k] < 0 ? outside : start + offsets[k];
        }
      }
      if (++x < width || i + 1 == count) continue;
      x = 0;
      find_lines(in, OutputPositions(g_, first + i + 1).at(), starts);
    }
  }

 private:
  // The start of each line that an output's kernel sees; null for padding.
  void find_lines(const int8_t* in, const ptrdiff_t* at, const int8_t** starts) const {
    const ConvolutionAxis* axes = g_.axes;
    for (ptrdiff_t k0 = 0; k0 < axes[0].kernel; ++k0) {
      const ptrdiff_t in0 =
          input_at(axes[0], first_position(axes[0], at[0], g_.transposed), k0, g_.transposed);
      for (ptrdiff_t k1 = 0; k1 < axes[1].kernel; ++k1) {
        const ptrdiff_t in1 =
            input_at(axes[1], first_position(axes[1], at[1], g_.transposed), k1, g_.transposed);
        *starts++ = in0 < 0 || in1 < 0 ? nullptr : in + in0 * axes[0].in_stride + in1 * axes[1].in_stride;
      }
    }
  }

  const ConvolutionGeometry& g_;
  const ptrdiff_t* offsets_;
};

}  // namespace rushlight::kernels::host
