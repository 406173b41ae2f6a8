// SPDX-License-Identifier: BSD-3-Clause
// im2col for int8 convolutions from spread lines. The input lines that a block of outputs sees are spread for
// the microkernel once, with the padding on both sides; a patch is then one span of a line for each row of
// the kernel. The microkernel reads the spans in place if it takes rows in parts (kInt8GemmParts) and a span
// has the depth of one step, or if there is only one span. Otherwise they are copied to contiguous patches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/geometry/patches.h"
#include "kernels/host/int8/int8_rows.h"

namespace rushlight::kernels::host {

// One plan serves all groups and images of a call. Spread lines hold `pixel_` bytes for each pixel: all
// channels of the group, spread for the microkernel.
class Int8Lines {
 public:
  // Plans for blocks of `block` outputs. Each block lies in one line, or has whole lines and parts of lines.
  Int8Lines(const ConvolutionGeometry& g, PatchOrder order, size_t block);

  // True if this method applies: a two-dimensional convolution with adjacent channels whose lines need little
  // memory (1 MiB).
  [[nodiscard]] bool applies() const { return bytes_ != 0; }
  // Scratch memory of a block, in bytes.
  [[nodiscard]] size_t bytes() const { return bytes_; }

  // Writes the patches of outputs [first, first + count) to scratch memory `to`. `in` points to the first
  // channel of the group. The result points into `to`.
  [[nodiscard]] SpreadRows spread(const int8_t* in, int8_t zero_point, size_t first, size_t count,
                                  char* to) const;

 private:
  struct Part {  // of the input
    ptrdiff_t line, lines;
    ptrdiff_t column, columns;
  };
  // part_of(): the input lines and columns that outputs [first, first + count) see. bytes_of(): their spread
  // size.
  [[nodiscard]] Part part_of(ptrdiff_t first, ptrdiff_t count) const;
  [[nodiscard]] size_t bytes_of(ptrdiff_t lines, ptrdiff_t columns) const;
  // Spreads one line of the part, with the zero point where it is outside of the image.
  void spread_line(const int8_t* in, int8_t zero_point, ptrdiff_t line, const Part& part, char* to) const;
  // Calls body(i, offset) for each output; its patch begins at this byte offset in the spread lines.
  template <class Body>
  void for_each_patch(const Part& part, ptrdiff_t first, ptrdiff_t count, const Body& body) const;
  // Copies the spans of each patch to contiguous rows, if the microkernel cannot read them in place.
  void gather(const Part& part, const char* lines, ptrdiff_t first, ptrdiff_t count, char* to) const;

  const ConvolutionGeometry& g_;
  const ConvolutionAxis& down_;
  const ConvolutionAxis& across_;
  ptrdiff_t pixel_;  // bytes of a spread pixel
  ptrdiff_t row_;    // bytes of a patch
  bool is_direct_;   // patches are spans of one line with a constant stride
  bool in_parts_;    // patches are several spans, located by offsets
  size_t bytes_;
};

}  // namespace rushlight::kernels::host
