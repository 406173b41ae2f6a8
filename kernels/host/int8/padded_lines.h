// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of channels-last images: a pointer for each tap, shared by all outputs of a row,
// which are pixel_stride() apart. Lines with padding at their ends are copied with it. The copy costs one
// pass over the input, TapTable some instructions for each tap of each output: with few channels the copy is
// cheaper.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/geometry/patches.h"

namespace rushlight::kernels::host {

// Which pointers a call of the microkernel takes:
//
//   in[t] = line of tap t + offset of the tap in the line, for t < taps; output p adds p * pixel_stride()
class PaddedLines {
 public:
  // Decides if the method applies, and for how many outputs at a time: kNear bounds the bytes of their lines.
  explicit PaddedLines(const ConvolutionGeometry& g) : g_(g), row_(g.axes[2]), channels_(g.groups) {
    // Not for transposed convolutions, pixels with gaps between them, many channels or large strides.
    const bool adjoin = row_.in_stride == channels_ || row_.in == 1;
    const bool is_empty = g.taps() == 0 || channels_ == 0;
    if (g.transposed || is_empty || !adjoin || channels_ > kMostChannels || row_.step > kMostStep) return;
    // Each microkernel call reorders the weights of all channels; short rows do not pay for that.
    if (row_.out < 8 + channels_ / 8) return;
    // The lines of a window, with the pixels that `outputs_` outputs see, take at most kNear bytes.
    const ptrdiff_t kept = lines() * channels_;
    const ptrdiff_t beyond = (row_.kernel - 1) * row_.dilation;
    const ptrdiff_t most = kept > kNear ? 0 : (kNear / kept - beyond - 1) / row_.step + 1;
    outputs_ = std::clamp<ptrdiff_t>(most, 0, row_.out);
  }
  [[nodiscard]] bool applies() const { return outputs_ > 0; }

  // Outputs of a row that one find() may ask for.
  [[nodiscard]] ptrdiff_t outputs() const { return outputs_; }
  // Scratch memory of a thread, in bytes.
  [[nodiscard]] size_t bytes() const {
    return static_cast<size_t>((lines() + 1) * columns(outputs_) * channels_);
  }
  [[nodiscard]] ptrdiff_t pixel_stride() const { return row_.step * channels_; }

  // Writes a pointer for each tap of `count` outputs of a row, starting at position `at`: taps() pointers in
  // all, shared by the outputs. Lines inside the image are used in place; lines with padding are copied to
  // `scratch`, whose first line is padding alone. Precondition: applies(), and count is at most outputs().
  void find(const int8_t* in, int8_t zero_point, const ptrdiff_t* at, ptrdiff_t count, int8_t* scratch,
            const int8_t** to) const {
    // The pixels [first, first + seen) of a line, of which [left, end) are in the image.
    const ptrdiff_t seen = columns(count), bytes = seen * channels_;
    const ptrdiff_t first = at[2] * row_.step - row_.pad;
    const ptrdiff_t left = std::clamp<ptrdiff_t>(-first, 0, seen);
    const ptrdiff_t end = std::clamp<ptrdiff_t>(row_.in - first, left, seen);
    int8_t* const outside = scratch;
    bool has_outside = false;
    for_each_line(at, [&](ptrdiff_t offset) {
      // Lines above and below the image share one line of padding.
      const int8_t* line = outside;
      if (offset >= 0 && left == 0 && end == seen) {
        line = in + offset + first * channels_;
      } else if (offset >= 0) {
        scratch += bytes;
        std::memset(scratch, zero_point, static_cast<size_t>(left * channels_));
        std::memcpy(scratch + left * channels_, in + offset + (first + left) * channels_,
                    static_cast<size_t>((end - left) * channels_));
        std::memset(scratch + end * channels_, zero_point, static_cast<size_t>((seen - end) * channels_));
        line = scratch;
      } else if (!has_outside) {
        std::memset(outside, zero_point, static_cast<size_t>(bytes));
        has_outside = true;
      }
      for (ptrdiff_t k = 0; k < row_.kernel; ++k) *to++ = line + k * row_.dilation * channels_;
    });
  }

 private:
  static constexpr ptrdiff_t kMostChannels = 256;
  static constexpr ptrdiff_t kMostStep = 64;
  static constexpr ptrdiff_t kNear = 32768;  // bytes of copies

  [[nodiscard]] ptrdiff_t lines() const { return g_.axes[0].kernel * g_.axes[1].kernel; }
  // Number of pixels of a line that `outputs` adjacent outputs see.
  [[nodiscard]] ptrdiff_t columns(ptrdiff_t outputs) const {
    return (outputs - 1) * row_.step + (row_.kernel - 1) * row_.dilation + 1;
  }

  // Calls body(offset) for each line that the kernel sees; a negative offset means padding.
  template <class Body>
  void for_each_line(const ptrdiff_t* at, const Body& body) const {
    const ConvolutionAxis* axes = g_.axes;
    for (ptrdiff_t k0 = 0; k0 < axes[0].kernel; ++k0) {
      const ptrdiff_t in0 = input_at(axes[0], first_position(axes[0], at[0], false), k0, false);
      for (ptrdiff_t k1 = 0; k1 < axes[1].kernel; ++k1) {
        const ptrdiff_t in1 = input_at(axes[1], first_position(axes[1], at[1], false), k1, false);
        body(in0 < 0 || in1 < 0 ? -1 : in0 * axes[0].in_stride + in1 * axes[1].in_stride);
      }
    }
  }

  const ConvolutionGeometry& g_;
  const ConvolutionAxis& row_;
  ptrdiff_t channels_;
  ptrdiff_t outputs_ = 0;
};

}  // namespace rushlight::kernels::host
