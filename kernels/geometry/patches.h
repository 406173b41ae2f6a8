// SPDX-License-Identifier: BSD-3-Clause
// What one output of a convolution sees of the input, brought together in the order of the weight's elements,
// so that a convolution is a product of matrices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels {

// How the elements of one output channel's weights follow each other.
enum class PatchOrder : uint8_t { kTapsThenChannels, kChannelsThenTaps };

// The order of weights that lie `step` apart without gaps; none if they lie otherwise.
[[nodiscard]] inline std::optional<PatchOrder> patch_order(const ConvolutionGeometry& g, ptrdiff_t step) {
  const auto lies = [&](ptrdiff_t next, ptrdiff_t channel_step) {
    if (g.in_channels > 1 && g.weight_in_stride != channel_step) return false;
    for (size_t i = kSpatial; i-- > 0;) {
      if (g.axes[i].kernel > 1 && g.axes[i].kernel_stride != next) return false;
      next *= g.axes[i].kernel;
    }
    return true;
  };
  if (lies(step * g.in_channels, step)) return PatchOrder::kTapsThenChannels;
  if (lies(step, step * g.taps())) return PatchOrder::kChannelsThenTaps;
  return std::nullopt;
}

// Whether each output sees one pixel, side by side with those of its neighbours: then the input is the
// matrix.
[[nodiscard]] inline bool sees_pixels(const ConvolutionGeometry& g) {
  bool alone = g.in_channel_stride == 1 || g.in_channels == 1;
  for (const ConvolutionAxis& axis : g.axes) alone = alone && axis.kernel == 1 && axis.pad == 0;
  return alone && !g.transposed;
}

// Hands an output's patch to `sink` from its first element to its last, `in` being at the first channel of
// the group: sink.copy(from, count, step) for elements of the input, sink.fill(count) for those outside of
// it.
template <class T, class Sink>
class PatchReader {
 public:
  PatchReader(const ConvolutionGeometry& g, PatchOrder order) : g_(g), order_(order) {
    const ConvolutionAxis& row = g.axes[2];
    is_run_ = !g.transposed && (row.dilation == 1 || row.kernel == 1) &&
              (order == PatchOrder::kChannelsThenTaps ||
               ((g.in_channel_stride == 1 || g.in_channels == 1) && row.in_stride == g.in_channels));
  }

  void read(const T* in, const ptrdiff_t* at, Sink& sink) const {
    if (order_ == PatchOrder::kTapsThenChannels) return read_taps(in, at, sink, g_.in_channels);
    for (ptrdiff_t c = 0; c < g_.in_channels; ++c) read_taps(in + c * g_.in_channel_stride, at, sink, 1);
  }

 private:
  // So many channels of each tap.
  void read_taps(const T* in, const ptrdiff_t* at, Sink& sink, ptrdiff_t channels) const {
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t first = first_position(row, at[2], g_.transposed);
    for (ptrdiff_t k0 = 0; k0 < g_.axes[0].kernel; ++k0) {
      const ptrdiff_t in0 = position(0, at[0], k0);
      for (ptrdiff_t k1 = 0; k1 < g_.axes[1].kernel; ++k1) {
        const ptrdiff_t in1 = position(1, at[1], k1);
        if (in0 < 0 || in1 < 0) {
          sink.fill(row.kernel * channels);
          continue;
        }
        const T* from = in + in0 * g_.axes[0].in_stride + in1 * g_.axes[1].in_stride;
        if (is_run_) {
          read_run(from, first, sink, channels);
        } else {
          read_apart(from, first, sink, channels);
        }
      }
    }
  }

  // Taps of a row that are neighbours in the input, too.
  void read_run(const T* from, ptrdiff_t first, Sink& sink, ptrdiff_t channels) const {
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t begin = std::min(std::max<ptrdiff_t>(-first, 0), row.kernel);
    const ptrdiff_t end = std::max(std::min(row.in - first, row.kernel), begin);
    if (begin > 0) sink.fill(begin * channels);
    if (end > begin) {
      const ptrdiff_t step = channels > 1 ? 1 : row.in_stride;
      sink.copy(from + (first + begin) * row.in_stride, (end - begin) * channels, step);
    }
    if (end < row.kernel) sink.fill((row.kernel - end) * channels);
  }

  void read_apart(const T* from, ptrdiff_t first, Sink& sink, ptrdiff_t channels) const {
    const ConvolutionAxis& row = g_.axes[2];
    for (ptrdiff_t k = 0; k < row.kernel; ++k) {
      const ptrdiff_t in2 = input_at(row, first, k, g_.transposed);
      if (in2 < 0) {
        sink.fill(channels);
      } else {
        sink.copy(from + in2 * row.in_stride, channels, g_.in_channel_stride);
      }
    }
  }

  [[nodiscard]] ptrdiff_t position(size_t axis, ptrdiff_t output, ptrdiff_t k) const {
    const ConvolutionAxis& a = g_.axes[axis];
    return input_at(a, first_position(a, output, g_.transposed), k, g_.transposed);
  }

  const ConvolutionGeometry& g_;
  PatchOrder order_;
  bool is_run_;
};

// The outputs of one element of the batch in order, a row after the other.
class OutputPositions {
 public:
  OutputPositions(const ConvolutionGeometry& g, ptrdiff_t index) : g_(g) {
    at_[2] = index % g.axes[2].out;
    index /= g.axes[2].out;
    at_[1] = index % g.axes[1].out;
    at_[0] = index / g.axes[1].out;
  }
  [[nodiscard]] const ptrdiff_t* at() const { return at_; }
  // In elements from the first output's.
  [[nodiscard]] ptrdiff_t out_offset() const {
    return at_[0] * g_.axes[0].out_stride + at_[1] * g_.axes[1].out_stride + at_[2] * g_.axes[2].out_stride;
  }
  void next() {
    for (size_t i = kSpatial; i-- > 0;) {
      if (++at_[i] < g_.axes[i].out) return;
      at_[i] = 0;
    }
  }

 private:
  const ConvolutionGeometry& g_;
  ptrdiff_t at_[kSpatial];
};

// Where an output sees the input through each tap, `in` being at the channel; `outside` for taps that see
// none. Returns whether all see some.
template <class T>
bool find_taps(const ConvolutionGeometry& g, const T* in, const ptrdiff_t* at, const T* outside,
               const T** to) {
  ptrdiff_t first[kSpatial];
  for (size_t i = 0; i < kSpatial; ++i) first[i] = first_position(g.axes[i], at[i], g.transposed);
  bool inside = true;
  for (ptrdiff_t k0 = 0; k0 < g.axes[0].kernel; ++k0) {
    const ptrdiff_t in0 = input_at(g.axes[0], first[0], k0, g.transposed);
    for (ptrdiff_t k1 = 0; k1 < g.axes[1].kernel; ++k1) {
      const ptrdiff_t in1 = input_at(g.axes[1], first[1], k1, g.transposed);
      const T* row = in + in0 * g.axes[0].in_stride + in1 * g.axes[1].in_stride;
      for (ptrdiff_t k2 = 0; k2 < g.axes[2].kernel; ++k2) {
        const ptrdiff_t in2 = input_at(g.axes[2], first[2], k2, g.transposed);
        const bool seen = in0 >= 0 && in1 >= 0 && in2 >= 0;
        *to++ = seen ? row + in2 * g.axes[2].in_stride : outside;
        inside = inside && seen;
      }
    }
  }
  return inside;
}

// Whether each channel is filtered alone, and channels are side by side.
[[nodiscard]] inline bool filters_channels(const ConvolutionGeometry& g) {
  return g.groups > 1 && g.in_channels == 1 && g.out_channels == 1 && g.in_channel_stride == 1 &&
         g.out_channel_stride == 1;
}

// The distance from tap to tap of the weights, if all lie at equal steps; -1 if they do not.
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

// How many outputs of an element of the batch lie at equal steps, those of the last axis: all of them, or
// those of a row.
[[nodiscard]] inline ptrdiff_t outputs_in_line(const ConvolutionGeometry& g) {
  ptrdiff_t count = g.axes[2].out;
  for (size_t i = kSpatial - 1; i-- > 0;) {
    if (g.axes[i].out == 1) continue;
    if (g.axes[i].out_stride != count * g.axes[2].out_stride) return g.axes[2].out;
    count *= g.axes[i].out;
  }
  return count;
}

}  // namespace rushlight::kernels
