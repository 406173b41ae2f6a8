// SPDX-License-Identifier: BSD-3-Clause
// A transposed convolution as ordinary ones. Outputs of an axis whose positions are equal modulo the stride
// see the input through the same taps, as an ordinary convolution with stride 1 does: its kernel has those
// taps in reverse, and its output is every stride-th element. The work is the same, and no position needs a
// division.
#pragma once

#include <cstddef>

#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels::board {

// One of these convolutions, not transposed. `weight` and `out` are offsets of its first tap and output. An
// axis without taps has a kernel of 0: such outputs are the bias alone.
struct Phase {
  ConvolutionGeometry geometry;
  ptrdiff_t weight;
  ptrdiff_t out;

  [[nodiscard]] bool is_empty() const { return geometry.taps() == 0; }
};

// The phase of the outputs first[i], first[i] + step, ... on each axis; first[i] is below the step and the
// output's size.
[[nodiscard]] Phase phase_of(const ConvolutionGeometry& transposed, const ptrdiff_t* first);

}  // namespace rushlight::kernels::board
