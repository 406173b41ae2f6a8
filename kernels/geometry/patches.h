// SPDX-License-Identifier: BSD-3-Clause
// im2col for one output at a time: the input elements that one output sees, in the order of the weight's
// elements, so that a convolution becomes a matrix product. Also the questions about layouts that decide
// which method a convolution takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels {

// The order of one output channel's weights in memory: [taps][input channels], as in channels-last weights,
// or [input channels][taps], as in PyTorch's contiguous ones.
enum class PatchOrder : uint8_t { kTapsThenChannels, kChannelsThenTaps };

// The order of weights whose elements are `step` apart without gaps; none for other layouts. Axes and
// channels of size 1 have no influence, so several orders may fit; taps first wins.
[[nodiscard]] inline std::optional<PatchOrder> patch_order(const ConvolutionGeometry& g, ptrdiff_t step) {
  // `next` is the stride that the innermost tap needs; each outer axis continues the one inside it without a
  // gap.
  const auto has_strides = [&](ptrdiff_t next, ptrdiff_t channel_step) {
    if (g.in_channels > 1 && g.weight_in_stride != channel_step) return false;
    for (size_t i = kSpatial; i-- > 0;) {
      if (g.axes[i].kernel > 1 && g.axes[i].kernel_stride != next) return false;
      next *= g.axes[i].kernel;
    }
    return true;
  };
  if (has_strides(step * g.in_channels, step)) return PatchOrder::kTapsThenChannels;
  if (has_strides(step, step * g.taps())) return PatchOrder::kChannelsThenTaps;
  return std::nullopt;
}

// True if each output sees one pixel whose channels are adjacent: then the input itself is the matrix. A
// stride of the convolution is allowed; it is a row stride of the matrix.
[[nodiscard]] inline bool sees_pixels(const ConvolutionGeometry& g) {
  bool alone = g.in_channel_stride == 1 || g.in_channels == 1;
  for (const ConvolutionAxis& axis : g.axes) alone = alone && axis.kernel == 1 && axis.pad == 0;
  return alone && !g.transposed;
}

// True if a row of taps with all channels is contiguous in the input as it is in the weight, and moves by a
// constant stride from output to output. Then a padded copy of input rows serves many outputs, whose patches
// overlap in it, and no patch is copied alone.
[[nodiscard]] inline bool has_bands(const ConvolutionGeometry& g, PatchOrder order) {
  const ConvolutionAxis& row = g.axes[2];
  return order == PatchOrder::kTapsThenChannels && !g.transposed && row.dilation == 1 &&
         (g.in_channel_stride == 1 || g.in_channels == 1) && row.in_stride == g.in_channels;
}

// Passes the patch of an output to `sink` in order: sink.copy(from, count, step) for elements of the input,
// sink.fill(count) for padding. `in` points to the first channel of the group. Calls are as long as the
// layout allows: a row of taps with all channels, or a single tap.
template <class T, class Sink>
class PatchReader {
 public:
  // is_span_: a row of taps is one copy. With channels first, the taps of one channel have a constant step;
  // with taps first, the channels of a tap have to be adjacent, and pixels too.
  PatchReader(const ConvolutionGeometry& g, PatchOrder order) : g_(g), order_(order) {
    const ConvolutionAxis& row = g.axes[2];
    height_ = g.axes[1].kernel;
    width_ = row.kernel;
    is_span_ = !g.transposed && (row.dilation == 1 || row.kernel == 1) &&
               (order == PatchOrder::kChannelsThenTaps ||
                ((g.in_channel_stride == 1 || g.in_channels == 1) && row.in_stride == g.in_channels));
  }

  // Overrides the kernel with `rows` rows of `taps_of_row` taps: the window of several outputs together, for
  // bands. Precondition: has_bands().
  void set_taps(ptrdiff_t rows, ptrdiff_t taps_of_row) {
    height_ = rows;
    width_ = taps_of_row;
  }

  // `at` is the output's position on the three axes. Passes one element for each tap and channel.
  void read(const T* in, const ptrdiff_t* at, Sink& sink) const {
    // With taps first, all channels are read at once; otherwise channel by channel, each with all taps.
    const bool taps_first = order_ == PatchOrder::kTapsThenChannels;
    const ptrdiff_t count = taps_first ? 1 : g_.in_channels;
    const ptrdiff_t channels = taps_first ? g_.in_channels : 1;
    for (ptrdiff_t c = 0; c < count; ++c, in += g_.in_channel_stride) {
      if (is_span_) {
        read_spans(in, at, sink, channels);
      } else {
        read_apart(in, at, sink, channels);
      }
    }
  }

 private:
  // Reads `channels` channels of each tap. The taps of a row are contiguous in the input, so each row is one
  // copy, with the same padding left and right in all rows.
  //
  //   first = input position of tap 0; taps [begin, end) are inside the row
  void read_spans(const T* in, const ptrdiff_t* at, Sink& sink, ptrdiff_t channels) const {
    const ConvolutionAxis& a = g_.axes[0];
    const ConvolutionAxis& b = g_.axes[1];
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t first = first_position(row, at[2], false);
    const ptrdiff_t begin = std::min(std::max<ptrdiff_t>(-first, 0), width_);
    const ptrdiff_t end = std::max(std::min(row.in - first, width_), begin);
    // In elements: padding at the left, elements of the input, padding at the right. All rows of taps share
    // them.
    const ptrdiff_t before = begin * channels;
    const ptrdiff_t count = (end - begin) * channels;
    const ptrdiff_t after = (width_ - end) * channels;
    const ptrdiff_t step = channels > 1 ? 1 : row.in_stride;
    const ptrdiff_t offset = count == 0 ? 0 : (first + begin) * row.in_stride;
    const ptrdiff_t first1 = first_position(b, at[1], false);
    const ptrdiff_t advance = b.dilation * b.in_stride;
    ptrdiff_t in0 = first_position(a, at[0], false);
    for (ptrdiff_t k0 = a.kernel; k0 > 0; --k0, in0 += a.dilation) {
      // Negative positions are large as unsigned values, so one comparison tests both limits.
      const size_t limit =
          static_cast<size_t>(in0) < static_cast<size_t>(a.in) ? static_cast<size_t>(b.in) : 0;
      ptrdiff_t in1 = first1;
      ptrdiff_t from = offset + in0 * a.in_stride + first1 * b.in_stride;
      for (ptrdiff_t k1 = height_; k1 > 0; --k1, in1 += b.dilation, from += advance) {
        if (static_cast<size_t>(in1) >= limit) {
          sink.fill(before + count + after);
          continue;
        }
        if (before > 0) sink.fill(before);
        sink.copy(in + from, count, step);
        if (after > 0) sink.fill(after);
      }
    }
  }

  // The general case, tap by tap: dilated or strided channels, and transposed convolutions.
  void read_apart(const T* in, const ptrdiff_t* at, Sink& sink, ptrdiff_t channels) const {
    ptrdiff_t first[kSpatial];
    for (size_t i = 0; i < kSpatial; ++i) first[i] = first_position(g_.axes[i], at[i], g_.transposed);
    ptrdiff_t k[kSpatial];
    for (k[0] = 0; k[0] < g_.axes[0].kernel; ++k[0]) {
      for (k[1] = 0; k[1] < g_.axes[1].kernel; ++k[1]) {
        for (k[2] = 0; k[2] < g_.axes[2].kernel; ++k[2]) {
          ptrdiff_t offset = 0;
          bool inside = true;
          // A negative position is padding; the offset is then unused.
          for (size_t i = 0; i < kSpatial; ++i) {
            const ptrdiff_t position = input_at(g_.axes[i], first[i], k[i], g_.transposed);
            inside = inside && position >= 0;
            offset += position * g_.axes[i].in_stride;
          }
          if (inside) {
            sink.copy(in + offset, channels, g_.in_channel_stride);
          } else {
            sink.fill(channels);
          }
        }
      }
    }
  }

  const ConvolutionGeometry& g_;
  PatchOrder order_;
  bool is_span_;
  ptrdiff_t height_;  // number of rows of taps
  ptrdiff_t width_;   // taps of a row
};

// The outputs of one element of the batch in row-major order, from output `index` on. Past the last one it
// starts again at the first. Cost: an addition for each output; no division after the constructor.
class OutputPositions {
 public:
  OutputPositions(const ConvolutionGeometry& g, ptrdiff_t index) : g_(g) {
    at_[2] = index % g.axes[2].out;
    index /= g.axes[2].out;
    at_[1] = index % g.axes[1].out;
    at_[0] = index / g.axes[1].out;
  }
  [[nodiscard]] const ptrdiff_t* at() const { return at_; }
  // Offset from the first output, in elements.
  [[nodiscard]] ptrdiff_t out_offset() const {
    return at_[0] * g_.axes[0].out_stride + at_[1] * g_.axes[1].out_stride + at_[2] * g_.axes[2].out_stride;
  }
  void next() { skip(1); }
  void skip(ptrdiff_t count) {
    // Carries from the row to the outer axes as often as `count` passes the end of a row.
    for (at_[2] += count; at_[2] >= g_.axes[2].out; at_[2] -= g_.axes[2].out) {
      if (++at_[1] < g_.axes[1].out) continue;
      at_[1] = 0;
      if (++at_[0] == g_.axes[0].out) at_[0] = 0;
    }
  }

 private:
  const ConvolutionGeometry& g_;
  ptrdiff_t at_[kSpatial];
};

// True for depthwise convolutions with one output channel for each input channel and adjacent channels: a
// vector of channels then needs one load for each tap, and the weights have no depth to sum over.
[[nodiscard]] inline bool filters_channels(const ConvolutionGeometry& g) {
  return g.groups > 1 && g.in_channels == 1 && g.out_channels == 1 && g.in_channel_stride == 1 &&
         g.out_channel_stride == 1;
}

// The stride from tap to tap of the weights if it is constant; -1 otherwise. 0 if the kernel has one tap.
// Microkernels with pointers take one stride for all taps.
[[nodiscard]] inline ptrdiff_t tap_stride(const ConvolutionGeometry& g) {
  ptrdiff_t stride = 0, count = 1;
  for (size_t i = kSpatial; i-- > 0;) {
    const ConvolutionAxis& axis = g.axes[i];
    if (axis.kernel == 1) continue;
    if (stride == 0) stride = axis.kernel_stride;
    if (axis.kernel_stride != stride * count) return -1;
    count *= axis.kernel;
  }
  return stride;
}

// The number of outputs from the first one on that have the constant stride of the last axis: all of them, or
// one row. A block of outputs within such a line has one stride, so a product can store it directly.
[[nodiscard]] inline ptrdiff_t outputs_in_line(const ConvolutionGeometry& g) {
  ptrdiff_t count = g.axes[2].out;
  // An outer axis continues the line if one step of it is as far as a whole row.
  for (size_t i = kSpatial - 1; i-- > 0;) {
    if (g.axes[i].out == 1) continue;
    if (g.axes[i].out_stride != count * g.axes[2].out_stride) return g.axes[2].out;
    count *= g.axes[i].out;
  }
  return count;
}

}  // namespace rushlight::kernels
