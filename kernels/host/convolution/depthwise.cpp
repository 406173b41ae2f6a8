// SPDX-License-Identifier: BSD-3-Clause
// Two methods. Strips (channels-last): the microkernel takes a pointer to the input for each row of taps,
// with channels in the lanes; pixels at the border that see fewer taps are separate calls. Bands (any
// layout): rows of an image are copied with padding to scratch memory, where inputs of strided convolutions
// are sorted by remainder, so that adjacent outputs read adjacent inputs. Both read each weight once for a
// strip or band; a strip needs no scratch memory.
#include "kernels/host/convolution/depthwise.h"

#include <algorithm>
#include <cstdint>

#include "kernels/host/convolution/method.h"
#include "kernels/host/parts.h"
#include "kernels/ukernel/depthwise.h"
#include "kernels/ukernel/gather.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kRowsAtOnce = 16;   // rows of taps in one call
constexpr ptrdiff_t kCached = 1 << 13;  // floats of input that a row of outputs sees: fits in the L1 cache
constexpr ptrdiff_t kNear = 1 << 18;    // floats of an image that fits in the L2 cache
constexpr size_t kPixelsAtOnce = 16;    // pixels in one call for larger images
constexpr auto kChannelsStep = static_cast<ptrdiff_t>(ukernel::kDepthwiseBlock);

// The outputs that see inputs through all taps; may be empty.
Range seen_through_all(const PhaseAxis& axis) {
  Range outputs = {0, axis.count};
  for (ptrdiff_t t = 0; t < axis.taps; ++t) outputs = seen_through(axis, t, outputs);
  return outputs.size() > 0 ? outputs : Range{0, 0};
}

// Weights of all taps for a block of channels, in floats: [tap][channel of the group][kChannelsStep].
ptrdiff_t packed_block(const Convolution& c, const Phase& phase) {
  return phase.taps() * c.in_channels * kChannelsStep;
}
ptrdiff_t packed_floats(const Convolution& c, const Phase& phase) {
  return (channels_of(c) + kChannelsStep - 1) / kChannelsStep * packed_block(c, phase);
}

// Rows of outputs, channels-last. Limits the channels of a block so that the input of one output row is
// still in the L1 cache for the next.
class Strips {
 public:
  Strips(const Convolution& convolution, const Phase& phase, const float* packed)
      : c_(convolution), phase_(phase), packed_(packed), channels_(channels_of(convolution)) {
    const PhaseAxis& row = phase.axes[2];
    inner_ = seen_through_all(row);
    whole_ = seen_through_all(phase.axes[1]);
    // Positions of the input that a row of outputs sees, times channels, should fit in kCached floats.
    const ptrdiff_t seen = std::max<ptrdiff_t>(row.count * row.in_step * phase.axes[1].taps, 1);
    const ptrdiff_t fitting = kCached / seen / kChannelsStep * kChannelsStep;
    is_near_ = phase.axes[1].in * phase.axes[1].in_stride <= kNear;
    // Larger images stream all channels of a few pixels instead, see compute_strip().
    block_ = is_near_ ? std::clamp(fitting, std::min(kChannelsStep, channels_), channels_) : channels_;
    blocks_ = (channels_ + block_ - 1) / block_;
  }

  // An item is a block of channels of one row.
  [[nodiscard]] size_t items() const {
    return static_cast<size_t>(c_.batch * blocks_ * phase_.axes[0].count * phase_.axes[1].count);
  }
  [[nodiscard]] size_t grain() const {
    return items_for_thread(phase_.axes[2].count * block_ * phase_.taps() * c_.in_channels, kThreadDepthwise);
  }

  void compute(size_t begin, size_t end) const {
    const PhaseAxis* axes = phase_.axes;
    while (begin < end) {
      auto rest = static_cast<ptrdiff_t>(begin);
      Block block{};
      block.rows.begin = rest % axes[1].count;
      rest /= axes[1].count;
      block.z = rest % axes[0].count;
      rest /= axes[0].count;
      block.channel = rest % blocks_ * block_;
      block.batch = rest / blocks_;
      block.rows.end = std::min(axes[1].count, block.rows.begin + static_cast<ptrdiff_t>(end - begin));
      compute_block(block);
      begin += static_cast<size_t>(block.rows.size());
    }
  }

 private:
  // Rows of outputs for a block of channels.
  struct Block {
    ptrdiff_t batch;
    ptrdiff_t channel;
    ptrdiff_t z;
    Range rows;
  };
  // Pointers to the input of the first tap in each row of taps, and to the weights of that row.
  struct TapRows {
    const float* from[kRowsAtOnce];
    const float* weights[kRowsAtOnce];
  };

  void compute_block(const Block& block) const {
    const PhaseAxis* axes = phase_.axes;
    for (ptrdiff_t y = block.rows.begin; y < block.rows.end; ++y) {
      if (inner_.size() > 0) compute_pixels(block, y, 1, inner_);
    }
    // Pixels at the ends of rows go column by column, since vertical neighbors see the same taps.
    const Range whole = {std::max(block.rows.begin, whole_.begin), std::min(block.rows.end, whole_.end)};
    for (ptrdiff_t x = 0; x < axes[2].count; ++x) {
      if (x == inner_.begin && inner_.size() > 0) {
        x = inner_.end - 1;
        continue;
      }
      for (ptrdiff_t y = block.rows.begin; y < block.rows.end; ++y) {
        if (y == whole.begin && whole.size() > 0) {
          compute_pixels(block, y, whole.size(), {x, x + 1});
          y = whole.end - 1;
        } else {
          compute_pixels(block, y, 1, {x, x + 1});
        }
      }
    }
  }

  // Computes pixels that see the same taps: horizontal neighbors, or `rows` vertical ones.
  void compute_pixels(const Block& block, ptrdiff_t y, ptrdiff_t rows, Range pixels) const {
    const PhaseAxis* axes = phase_.axes;
    const PhaseAxis& along = axes[rows > 1 ? 1 : 2];
    // Only taps that see inputs: no zeros are read or multiplied.
    const Range taps0 = taps_of(axes[0], block.z);
    const Range taps1 = taps_of(axes[1], y);
    const Range taps2 = taps_of(axes[2], pixels.begin);
    TapRows seen;
    ukernel::DepthwisePixels strip;
    strip.in = seen.from;
    strip.weights = seen.weights;
    strip.pixels = static_cast<size_t>(rows > 1 ? rows : pixels.size());
    strip.channels = static_cast<size_t>(std::min(block_, channels_ - block.channel));
    strip.group = static_cast<size_t>(c_.in_channels);
    strip.taps = static_cast<size_t>(std::max<ptrdiff_t>(taps2.size(), 0));
    strip.in_stride = along.in_step * along.in_stride;
    strip.tap_stride = axes[2].tap_step * axes[2].in_stride;
    strip.weight_block = packed_block(c_, phase_);
    strip.bias = c_.bias == nullptr ? nullptr : c_.bias + block.channel;
    const ptrdiff_t out = block.channel + block.batch * c_.out_batch_stride + phase_.out_first() +
                          block.z * axes[0].out_stride + y * axes[1].out_stride +
                          pixels.begin * axes[2].out_stride;
    strip.out = c_.out + out;
    strip.out_stride = along.out_stride;
    strip.residual_stride = along.out_stride;
    const float* first = c_.input + block.channel + block.batch * c_.in_batch_stride +
                         axes[0].position(block.z, 0) * axes[0].in_stride +
                         axes[1].position(y, 0) * axes[1].in_stride +
                         axes[2].position(pixels.begin, taps2.begin) * axes[2].in_stride;
    const ptrdiff_t tap_floats = c_.in_channels * kChannelsStep;
    const float* weights =
        packed_ + block.channel / kChannelsStep * strip.weight_block + taps2.begin * tap_floats;
    for (ptrdiff_t t0 = taps0.begin; t0 < taps0.end && strip.taps > 0; ++t0) {
      for (ptrdiff_t t1 = taps1.begin; t1 < taps1.end; ++t1) {
        // A full list of tap rows is computed, and the remaining ones add to it.
        if (strip.rows == kRowsAtOnce) {
          compute_strip(strip);
          strip.accumulate = true;
          strip.rows = 0;
        }
        seen.from[strip.rows] =
            first + t0 * axes[0].tap_step * axes[0].in_stride + t1 * axes[1].tap_step * axes[1].in_stride;
        seen.weights[strip.rows] = weights + (t0 * axes[1].taps + t1) * axes[2].taps * tap_floats;
        ++strip.rows;
      }
    }
    // Residual and clamp belong to the last call of the strip.
    strip.residual = c_.residual == nullptr ? nullptr : c_.residual + out;
    strip.low = c_.low;
    strip.high = c_.high;
    compute_strip(strip);
    if (!c_.finishes()) return;
    for (size_t p = 0; p < strip.pixels; ++p) {
      c_.finish(strip.out + static_cast<ptrdiff_t>(p) * strip.out_stride,
                static_cast<ptrdiff_t>(strip.channels));
    }
  }

  void compute_strip(const ukernel::DepthwisePixels& strip) const {
    // In a large image a call takes few pixels, so that their inputs are in the cache for all channels.
    if (is_near_ || strip.pixels <= kPixelsAtOnce) return depthwise_pixels(strip);
    TapRows seen;
    ukernel::DepthwisePixels part = strip;
    part.in = seen.from;
    for (size_t done = 0; done < strip.pixels; done += kPixelsAtOnce) {
      const auto first = static_cast<ptrdiff_t>(done);
      for (size_t i = 0; i < strip.rows; ++i) seen.from[i] = strip.in[i] + first * strip.in_stride;
      part.pixels = std::min(kPixelsAtOnce, strip.pixels - done);
      part.out = strip.out + first * strip.out_stride;
      if (strip.residual != nullptr) part.residual = strip.residual + first * strip.residual_stride;
      depthwise_pixels(part);
    }
  }

  const Convolution& c_;
  const Phase& phase_;
  const float* packed_;
  Range inner_;  // outputs of a row that see inputs through all its taps
  Range whole_;  // the same for rows of outputs
  bool is_near_;
  ptrdiff_t channels_;
  ptrdiff_t block_;  // channels that are computed together: all, or a multiple of kChannelsStep
  ptrdiff_t blocks_;
};

// The copy of one dimension of an image. Inputs whose positions have the same remainder modulo in_step are
// adjacent, in one slot for each remainder that taps need. For example, with in_step 2 and three adjacent
// taps:
//
//   slot 0: inputs 0 2 4 6 ...   read by tap 0 from index 0 on, and by tap 2 from index 1 on
//   slot 1: inputs 1 3 5 7 ...   read by tap 1 from index 0 on
struct Slots {
  explicit Slots(const PhaseAxis& phase_axis) : axis(phase_axis), reach(0), period(1) {
    step = axis.tap_step < 0 ? -axis.tap_step : axis.tap_step;
    // Taps whose distance is a multiple of in_step see inputs with one remainder, that is, of one slot.
    while (period < axis.taps && period * step % axis.in_step != 0) ++period;
    if (axis.taps > 0) reach = (axis.taps - 1) * step / axis.in_step;
  }
  // Position of the tap among all taps ordered by the input that they see.
  [[nodiscard]] ptrdiff_t rank(ptrdiff_t tap) const { return axis.tap_step < 0 ? axis.taps - 1 - tap : tap; }
  [[nodiscard]] ptrdiff_t slot(ptrdiff_t tap) const { return rank(tap) % period; }
  [[nodiscard]] ptrdiff_t shift(ptrdiff_t tap) const { return rank(tap) * step / axis.in_step; }
  // The input at index `i` of slot `slot`, counted from output `first`.
  [[nodiscard]] ptrdiff_t position(ptrdiff_t first, ptrdiff_t slot, ptrdiff_t i) const {
    // A transposed axis walks its taps backwards, so its last tap sees the lowest input.
    const ptrdiff_t lowest = axis.in_first + (axis.tap_step < 0 ? (axis.taps - 1) * axis.tap_step : 0);
    return lowest + (first + i) * axis.in_step + (axis.in_step == 1 ? 0 : slot * step % axis.in_step);
  }

  const PhaseAxis& axis;
  ptrdiff_t step;
  ptrdiff_t reach;   // inputs beyond an output's first one, in one slot
  ptrdiff_t period;  // number of slots
};

constexpr ptrdiff_t kTapsAtOnce = 64;
constexpr ptrdiff_t kBand = 1 << 13;  // approximate floats of a copy

// Bands of output rows of one channel.
class Bands {
 public:
  Bands(const Convolution& convolution, const Phase& phase)
      : c_(convolution),
        phase_(phase),
        layers_(phase.axes[0].taps),
        rows_(phase.axes[1]),
        columns_(phase.axes[2]) {
    width_ = phase.axes[2].count + columns_.reach;
    follows_ = !kReachesScattered || phase.axes[2].out_stride == 1;
    const ptrdiff_t per_row = std::max<ptrdiff_t>(layers_ * rows_.period * columns_.period * width_, 1);
    // As many output rows as the copy may have, but more than the input rows that neighboring bands copy
    // twice.
    const ptrdiff_t most = std::max(kBand / per_row - rows_.reach, rows_.reach + 1);
    // Bands of nearly equal height.
    const ptrdiff_t bands = (phase.axes[1].count + most - 1) / most;
    band_ = (phase.axes[1].count + bands - 1) / bands;
    bands_ = (phase.axes[1].count + band_ - 1) / band_;
    plane_ = (band_ + rows_.reach) * width_;
    // Offsets are equal for all bands and channels. Beyond kTapsAtOnce taps they are computed again for each
    // channel.
    find_tap_offsets(0, std::min(phase.taps(), kTapsAtOnce), &first_taps_);
  }

  [[nodiscard]] size_t scratch_floats() const {
    // Layout of the copy: [layers][row slots][column slots][band rows + reach][width]. Strided outputs have a
    // tile in front of it.
    const ptrdiff_t copy = layers_ * rows_.period * columns_.period * plane_;
    return static_cast<size_t>(copy + (follows_ ? 0 : band_ * phase_.axes[2].count)) +
           ukernel::kDepthwiseSlack;
  }
  // An item is one band of all output channels of one input channel.
  [[nodiscard]] size_t items() const {
    return static_cast<size_t>(c_.batch * c_.groups * phase_.axes[0].count * bands_);
  }
  [[nodiscard]] size_t grain() const {
    return items_for_thread(band_ * phase_.axes[2].count * (phase_.taps() * c_.out_channels + 2),
                            kThreadDepthwise);
  }

  void compute(size_t begin, size_t end, float* scratch) const {
    const ptrdiff_t depths = phase_.axes[0].count;
    for (size_t item = begin; item < end; ++item) {
      auto rest = static_cast<ptrdiff_t>(item);
      const ptrdiff_t first = rest % bands_ * band_;
      rest /= bands_;
      const ptrdiff_t z = rest % depths;
      rest /= depths;
      const ptrdiff_t group = rest % c_.groups;
      const ptrdiff_t batch = rest / c_.groups;
      const ptrdiff_t rows = std::min(band_, phase_.axes[1].count - first);
      float* copy = follows_ ? scratch : scratch + band_ * phase_.axes[2].count;
      const float* image = c_.input + batch * c_.in_batch_stride + group * c_.in_channel_stride;
      for (ptrdiff_t layer = 0; layer < layers_; ++layer) copy_layer(image, z, layer, first, rows, copy);
      for (ptrdiff_t i = 0; i < c_.out_channels; ++i) {
        compute_channel(batch, group, i, z, first, rows, copy, scratch);
      }
    }
  }

 private:
  struct TapOffsets {
    ptrdiff_t copy[kTapsAtOnce];
    ptrdiff_t kernel[kTapsAtOnce];
  };

  void find_tap_offsets(ptrdiff_t first, ptrdiff_t count, TapOffsets* offsets) const {
    const PhaseAxis* axes = phase_.axes;
    for (ptrdiff_t i = 0; i < count; ++i) {
      const ptrdiff_t t2 = (first + i) % axes[2].taps;
      const ptrdiff_t t1 = (first + i) / axes[2].taps % axes[1].taps;
      const ptrdiff_t t0 = (first + i) / axes[2].taps / axes[1].taps;
      offsets->copy[i] =
          plane_offset(t0, rows_.slot(t1), columns_.slot(t2)) + rows_.shift(t1) * width_ + columns_.shift(t2);
      offsets->kernel[i] = kernel_offset(phase_, first + i);
    }
  }

  [[nodiscard]] ptrdiff_t plane_offset(ptrdiff_t layer, ptrdiff_t row_slot, ptrdiff_t column_slot) const {
    return ((layer * rows_.period + row_slot) * columns_.period + column_slot) * plane_;
  }

  void copy_layer(const float* image, ptrdiff_t z, ptrdiff_t layer, ptrdiff_t first, ptrdiff_t rows,
                  float* copy) const {
    const PhaseAxis* axes = phase_.axes;
    const ptrdiff_t in0 = axes[0].position(z, layer);
    const bool inside = in0 >= 0 && in0 < axes[0].in;
    for (ptrdiff_t row_slot = 0; row_slot < rows_.period; ++row_slot) {
      // The rows inside the image are contiguous.
      const ptrdiff_t count = rows + rows_.reach;
      ptrdiff_t begin = 0;
      while (begin < count && rows_.position(first, row_slot, begin) < 0) ++begin;
      ptrdiff_t end = count;
      while (end > begin && rows_.position(first, row_slot, end - 1) >= axes[1].in) --end;
      if (!inside) begin = end = 0;
      for (ptrdiff_t column_slot = 0; column_slot < columns_.period; ++column_slot) {
        float* plane = copy + plane_offset(layer, row_slot, column_slot);
        std::fill(plane, plane + begin * width_, 0.0F);
        std::fill(plane + end * width_, plane + count * width_, 0.0F);
        if (begin == end) continue;
        const float* rows_from =
            image + in0 * axes[0].in_stride + rows_.position(first, row_slot, begin) * axes[1].in_stride;
        copy_rows(rows_from, column_slot, end - begin, plane + begin * width_);
      }
    }
  }

  void copy_rows(const float* from, ptrdiff_t slot, ptrdiff_t rows, float* to) const {
    const PhaseAxis& axis = phase_.axes[2];
    ptrdiff_t begin = 0;
    while (begin < width_ && columns_.position(0, slot, begin) < 0) ++begin;
    ptrdiff_t end = width_;
    while (end > begin && columns_.position(0, slot, end - 1) >= axis.in) --end;
    ukernel::GatherRows gather;
    gather.rows = static_cast<size_t>(rows);
    gather.before = static_cast<size_t>(begin);
    gather.count = static_cast<size_t>(end - begin);
    gather.after = static_cast<size_t>(width_ - end);
    gather.from = end > begin ? from + columns_.position(0, slot, begin) * axis.in_stride : from;
    // Consecutive rows of a slot are in_step apart in the image.
    gather.from_stride = rows_.axis.in_step * rows_.axis.in_stride;
    gather.step = axis.in_step * axis.in_stride;
    gather.to = to;
    gather.to_stride = width_;
    gather_rows(gather);
  }

  void compute_channel(ptrdiff_t batch, ptrdiff_t group, ptrdiff_t index, ptrdiff_t z, ptrdiff_t first,
                       ptrdiff_t rows, float* copy, float* tile) const {
    const PhaseAxis* axes = phase_.axes;
    const ptrdiff_t channel = group * c_.out_channels + index;
    const float* kernel = c_.weight + group * c_.weight_group_stride + index * c_.weight_out_stride;
    const ptrdiff_t out = batch * c_.out_batch_stride + channel * c_.out_channel_stride + phase_.out_first() +
                          z * axes[0].out_stride + first * axes[1].out_stride;
    const float* in[kTapsAtOnce];
    float weights[kTapsAtOnce];
    ukernel::DepthwisePlane plane;
    plane.rows = static_cast<size_t>(rows);
    plane.width = static_cast<size_t>(axes[2].count);
    plane.in = in;
    plane.in_stride = width_;
    plane.weights = weights;
    plane.bias = c_.bias == nullptr ? 0.0F : c_.bias[channel];
    plane.out = follows_ ? c_.out + out : tile;
    plane.out_stride = follows_ ? axes[1].out_stride : axes[2].count;
    const ptrdiff_t taps = phase_.taps();
    TapOffsets later_taps;
    const TapOffsets* offsets = &first_taps_;
    ptrdiff_t done = 0;
    do {
      const ptrdiff_t count = std::min(kTapsAtOnce, taps - done);
      if (done > 0) {
        find_tap_offsets(done, count, &later_taps);
        offsets = &later_taps;
      }
      for (ptrdiff_t i = 0; i < count; ++i) {
        in[i] = copy + offsets->copy[i];
        weights[i] = kernel[offsets->kernel[i]];
      }
      plane.taps = static_cast<size_t>(count);
      done += count;
      if (done >= taps && follows_) {
        plane.residual = c_.residual == nullptr ? nullptr : c_.residual + out;
        plane.residual_stride = plane.out_stride;
        plane.low = c_.low;
        plane.high = c_.high;
      }
      depthwise_plane(plane);
      // Later groups of taps add to the outputs of the first one.
      plane.accumulate = true;
    } while (done < taps);
    if (kReachesScattered && !follows_) return scatter(out, rows, tile);
    for (ptrdiff_t y = 0; y < rows; ++y) c_.finish(plane.out + y * plane.out_stride, axes[2].count);
  }

  void scatter(ptrdiff_t out, ptrdiff_t rows, const float* tile) const {
    const PhaseAxis* axes = phase_.axes;
    for (ptrdiff_t y = 0; y < rows; ++y) {
      for (ptrdiff_t x = 0; x < axes[2].count; ++x) {
        const ptrdiff_t at = out + y * axes[1].out_stride + x * axes[2].out_stride;
        float value = *tile++;
        if (c_.residual != nullptr) value += c_.residual[at];
        value = value < c_.low ? c_.low : value;
        c_.out[at] = value > c_.high ? c_.high : value;
        c_.finish(c_.out + at, 1);
      }
    }
  }

  const Convolution& c_;
  const Phase& phase_;
  ptrdiff_t layers_;
  Slots rows_;
  Slots columns_;
  ptrdiff_t width_;  // of a row of the copy
  bool follows_;     // outputs of a row are adjacent
  ptrdiff_t band_;   // rows of outputs
  ptrdiff_t bands_;
  ptrdiff_t plane_;  // floats of a slot
  TapOffsets first_taps_;
};

size_t scratch_of(const Convolution& c) {
  size_t floats = 0;
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    floats = std::max(floats, Bands(c, phase).scratch_floats());
  }
  return (floats + 15) / 16 * 16;
}

}  // namespace

size_t packed_depthwise_size(const Convolution& c) {
  ptrdiff_t floats = 0;
  for (size_t i = 0; i < count_phases(c); ++i) floats += packed_floats(c, make_phase(c, i));
  return static_cast<size_t>(floats) * sizeof(float);
}

void pack_depthwise(const Convolution& c, float* packed) {
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    const ptrdiff_t channels = channels_of(c);
    for (ptrdiff_t first = 0; first < channels; first += kChannelsStep) {
      for (ptrdiff_t tap = 0; tap < phase.taps(); ++tap) {
        const float* weight = c.weight + kernel_offset(phase, tap);
        for (ptrdiff_t in = 0; in < c.in_channels; ++in) {
          for (ptrdiff_t o = first; o < first + kChannelsStep; ++o) {
            const ptrdiff_t group = o / c.out_channels;
            *packed++ = o < channels ? weight[group * c.weight_group_stride + in * c.weight_in_stride +
                                              o % c.out_channels * c.weight_out_stride]
                                     : 0.0F;
          }
        }
      }
    }
  }
}

void convolve_depthwise_rows(KernelContext& context, const Convolution& c, const float* packed) {
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    const Strips strips(c, phase, packed);
    context.parallel_for(strips.items(), strips.grain(),
                         [&](size_t begin, size_t end, size_t) { strips.compute(begin, end); });
    packed += packed_floats(c, phase);
  }
}

size_t depthwise_scratch_size(const Convolution& c) { return scratch_of(c) * sizeof(float); }

void convolve_depthwise_planes(KernelContext& context, const Convolution& c, float* scratch, size_t threads) {
  const size_t each = scratch_of(c);
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    const Bands bands(c, phase);
    const size_t grain = threads < context.threads() ? bands.items() : bands.grain();
    context.parallel_for(
        bands.items(), std::max<size_t>(grain, 1),
        [&](size_t begin, size_t end, size_t thread) { bands.compute(begin, end, scratch + thread * each); });
  }
}

}  // namespace rushlight::kernels::host
