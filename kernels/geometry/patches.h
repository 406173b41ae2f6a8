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

// Whether a row of taps, with their channels, lies in the input as the weights do, and further along the row
// for each next output.
[[nodiscard]] inline bool sees_bands(const ConvolutionGeometry& g, PatchOrder order) {
  const ConvolutionAxis& row = g.axes[2];
  return order == PatchOrder::kTapsThenChannels && !g.transposed && row.dilation == 1 &&
         (g.in_channel_stride == 1 || g.in_channels == 1) && row.in_stride == g.in_channels;
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
    const bool taps_first = order_ == PatchOrder::kTapsThenChannels;
    const ptrdiff_t count = taps_first ? 1 : g_.in_channels;
    const ptrdiff_t channels = taps_first ? g_.in_channels : 1;
    for (ptrdiff_t c = 0; c < count; ++c, in += g_.in_channel_stride) {
      if (is_run_) {
        read_runs(in, at, sink, channels);
      } else {
        read_apart(in, at, sink, channels);
      }
    }
  }

 private:
  // So many channels of each tap. Taps of a row are neighbours in the input, too; what they see begins and
  // ends alike in all rows.
  void read_runs(const T* in, const ptrdiff_t* at, Sink& sink, ptrdiff_t channels) const {
    const ConvolutionAxis& a = g_.axes[0];
    const ConvolutionAxis& b = g_.axes[1];
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t first = first_position(row, at[2], false);
    const ptrdiff_t begin = std::min(std::max<ptrdiff_t>(-first, 0), row.kernel);
    const ptrdiff_t end = std::max(std::min(row.in - first, row.kernel), begin);
    const ptrdiff_t before = begin * channels;
    const ptrdiff_t count = (end - begin) * channels;
    const ptrdiff_t after = (row.kernel - end) * channels;
    const ptrdiff_t step = channels > 1 ? 1 : row.in_stride;
    const ptrdiff_t offset = count == 0 ? 0 : (first + begin) * row.in_stride;
    const ptrdiff_t first1 = first_position(b, at[1], false);
    const ptrdiff_t advance = b.dilation * b.in_stride;
    ptrdiff_t in0 = first_position(a, at[0], false);
    for (ptrdiff_t k0 = a.kernel; k0 > 0; --k0, in0 += a.dilation) {
      // Positions outside of an axis are large as unsigned numbers.
      const size_t limit =
          static_cast<size_t>(in0) < static_cast<size_t>(a.in) ? static_cast<size_t>(b.in) : 0;
      ptrdiff_t in1 = first1;
      ptrdiff_t from = offset + in0 * a.in_stride + first1 * b.in_stride;
      for (ptrdiff_t k1 = b.kernel; k1 > 0; --k1, in1 += b.dilation, from += advance) {
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

  void read_apart(const T* in, const ptrdiff_t* at, Sink& sink, ptrdiff_t channels) const {
    ptrdiff_t first[kSpatial];
    for (size_t i = 0; i < kSpatial; ++i) first[i] = first_position(g_.axes[i], at[i], g_.transposed);
    ptrdiff_t k[kSpatial];
    for (k[0] = 0; k[0] < g_.axes[0].kernel; ++k[0]) {
      for (k[1] = 0; k[1] < g_.axes[1].kernel; ++k[1]) {
        for (k[2] = 0; k[2] < g_.axes[2].kernel; ++k[2]) {
          ptrdiff_t offset = 0;
          bool inside = true;
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
  void next() { skip(1); }
  // `count` are no more than are left of the row.
  void skip(ptrdiff_t count) {
    at_[2] += count - 1;
    for (size_t i = kSpatial; i-- > 0;) {
      if (++at_[i] < g_.axes[i].out) return;
      at_[i] = 0;
    }
  }

 private:
  const ConvolutionGeometry& g_;
  ptrdiff_t at_[kSpatial];
};

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
