// SPDX-License-Identifier: BSD-3-Clause
// Patches of a convolution of int8, from spread lines. The lines of the input that a block of outputs sees
// are spread once, with the padding on both sides. A patch is a piece of a line for each line of the kernel.
// The pieces stay where they are if products take rows in parts (kInt8GemmParts) and their depth is what the
// variant takes at once, or if there is one of them. Otherwise patches are copied together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/geometry/patches.h"
#include "kernels/host/int8/int8_rows.h"

namespace rushlight::kernels::host {

class Int8Lines {
 public:
  // Plans blocks of `block` outputs that lie in one line each, or else of whole lines and parts of them.
  Int8Lines(const ConvolutionGeometry& g, PatchOrder order, size_t block);

  // Whether this is how patches are to be gathered: a two-dimensional convolution of channels that lie side
  // by side, whose lines take little memory.
  [[nodiscard]] bool applies() const { return bytes_ != 0; }
  // Scratch memory of a block.
  [[nodiscard]] size_t bytes() const { return bytes_; }

  // The patches of outputs first <= i < first + count, in scratch memory `to`; `in` is at the first channel
  // of the group.
  [[nodiscard]] SpreadRows spread(const int8_t* in, int8_t zero_point, size_t first, size_t count,
                                  char* to) const;

 private:
  struct Part {  // of the input
    ptrdiff_t line, lines;
    ptrdiff_t column, columns;
  };
  [[nodiscard]] Part part_of(ptrdiff_t first, ptrdiff_t count) const;
  [[nodiscard]] size_t bytes_of(ptrdiff_t lines, ptrdiff_t columns) const;
  void spread_line(const int8_t* in, int8_t zero_point, ptrdiff_t line, const Part& part, char* to) const;
  // Calls body(i, offset) for each output, where what it sees begins in the spread lines.
  template <class Body>
  void for_each_patch(const Part& part, ptrdiff_t first, ptrdiff_t count, const Body& body) const;
  void gather(const Part& part, const char* lines, ptrdiff_t first, ptrdiff_t count, char* to) const;

  const ConvolutionGeometry& g_;
  const ConvolutionAxis& down_;
  const ConvolutionAxis& across_;
  ptrdiff_t pixel_;  // bytes of a spread pixel
  ptrdiff_t row_;    // bytes of a patch
  bool is_direct_;   // patches are parts of a line, in equal steps
  bool in_parts_;    // or of several, anywhere
  size_t bytes_;
};

}  // namespace rushlight::kernels::host
