// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/convolution_depthwise.h"

#include <algorithm>
#include <cstdint>

#include "kernels/optimized/convolution_rows.h"
#include "kernels/ukernel/depthwise.h"
#include "kernels/ukernel/gather.h"

namespace rushlight::kernels::optimized {

namespace {

constexpr ptrdiff_t kRowsAtOnce = 16;  // rows of taps

// Items of so much work are worth a thread.
size_t grain_of(ptrdiff_t work) {
  return static_cast<size_t>(std::max<ptrdiff_t>((ptrdiff_t{1} << 18) / std::max<ptrdiff_t>(work, 1), 1));
}

// Rows of outputs, of all channels, channels last.
class Strips {
 public:
  Strips(const Convolution& convolution, const Phase& phase, const float* packed)
      : c_(convolution), phase_(phase), packed_(packed) {
    // Outputs that see inputs through all taps of their row.
    const PhaseAxis& row = phase.axes[2];
    inner_ = {0, row.count};
    for (ptrdiff_t t = 0; t < row.taps; ++t) inner_ = seen_through(row, t, inner_);
    if (inner_.size() <= 0) inner_ = {0, 0};
  }

  [[nodiscard]] size_t items() const {
    return static_cast<size_t>(c_.batch * phase_.axes[0].count * phase_.axes[1].count);
  }
  [[nodiscard]] size_t grain() const { return grain_of(phase_.axes[2].count * c_.groups * phase_.taps()); }

  void compute(size_t begin, size_t end) const {
    const PhaseAxis* axes = phase_.axes;
    for (size_t item = begin; item < end; ++item) {
      auto rest = static_cast<ptrdiff_t>(item);
      const ptrdiff_t y = rest % axes[1].count;
      rest /= axes[1].count;
      const ptrdiff_t z = rest % axes[0].count;
      const ptrdiff_t batch = rest / axes[0].count;
      const Range taps0 = taps_of(axes[0], z);
      const Range taps1 = taps_of(axes[1], y);
      const ptrdiff_t in = batch * c_.in_batch_stride + axes[0].position(z, 0) * axes[0].in_stride +
                           axes[1].position(y, 0) * axes[1].in_stride;
      const ptrdiff_t out =
          batch * c_.out_batch_stride + phase_.out_first() + z * axes[0].out_stride + y * axes[1].out_stride;
      compute_row(in, out, taps0, taps1);
    }
  }

 private:
  void compute_row(ptrdiff_t in, ptrdiff_t out, Range taps0, Range taps1) const {
    const PhaseAxis& row = phase_.axes[2];
    for (ptrdiff_t x = 0; x < row.count; ++x) {
      if (x == inner_.begin && inner_.size() > 0) {
        compute_strip(in, out, taps0, taps1, inner_, {0, row.taps});
        x = inner_.end - 1;
      } else {
        compute_strip(in, out, taps0, taps1, {x, x + 1}, taps_of(row, x));
      }
    }
  }

  void compute_strip(ptrdiff_t in, ptrdiff_t out, Range taps0, Range taps1, Range pixels, Range taps) const {
    const PhaseAxis* axes = phase_.axes;
    const PhaseAxis& row = axes[2];
    const float* from[kRowsAtOnce];
    const float* weights[kRowsAtOnce];
    ukernel::DepthwisePixels strip;
    strip.pixels = static_cast<size_t>(pixels.size());
    strip.channels = static_cast<size_t>(c_.groups);
    strip.taps = static_cast<size_t>(std::max<ptrdiff_t>(taps.size(), 0));
    strip.in = from;
    strip.in_stride = row.in_step * row.in_stride;
    strip.tap_stride = row.tap_step * row.in_stride;
    strip.weights = weights;
    strip.weight_stride = c_.groups;
    strip.bias = c_.bias;
    const ptrdiff_t at = out + pixels.begin * row.out_stride;
    strip.out = c_.out + at;
    strip.out_stride = row.out_stride;
    const ptrdiff_t rows = std::max<ptrdiff_t>(taps0.size(), 0) * std::max<ptrdiff_t>(taps1.size(), 0);
    ptrdiff_t done = 0;
    do {
      const ptrdiff_t count = std::min(kRowsAtOnce, rows - done);
      for (ptrdiff_t i = 0; i < count; ++i) {
        const ptrdiff_t t0 = taps0.begin + (done + i) / taps1.size();
        const ptrdiff_t t1 = taps1.begin + (done + i) % taps1.size();
        from[i] = c_.input + in + t0 * axes[0].tap_step * axes[0].in_stride +
                  t1 * axes[1].tap_step * axes[1].in_stride +
                  row.position(pixels.begin, taps.begin) * row.in_stride;
        weights[i] = packed_ + ((t0 * axes[1].taps + t1) * row.taps + taps.begin) * c_.groups;
      }
      strip.rows = static_cast<size_t>(strip.taps == 0 ? 0 : count);
      done += count;
      if (done >= rows) {
        strip.residual = c_.residual == nullptr ? nullptr : c_.residual + at;
        strip.residual_stride = row.out_stride;
        strip.low = c_.low;
        strip.high = c_.high;
      }
      depthwise_pixels(strip);
      strip.accumulate = true;
    } while (done < rows);
    for (ptrdiff_t p = 0; p < pixels.size(); ++p) c_.finish(strip.out + p * strip.out_stride, c_.groups);
  }

  const Convolution& c_;
  const Phase& phase_;
  const float* packed_;
  Range inner_;
};

// How one dimension of an image is copied: inputs whose positions leave equal remainders divided by in_step
// lie beside each other, a slot for each remainder that taps need.
struct Slots {
  explicit Slots(const PhaseAxis& phase_axis) : axis(phase_axis), reach(0), period(1) {
    step = axis.tap_step < 0 ? -axis.tap_step : axis.tap_step;
    while (period < axis.taps && period * step % axis.in_step != 0) ++period;
    if (axis.taps > 0) reach = (axis.taps - 1) * step / axis.in_step;
  }
  // Taps from the one that sees the first input on.
  [[nodiscard]] ptrdiff_t rank(ptrdiff_t tap) const { return axis.tap_step < 0 ? axis.taps - 1 - tap : tap; }
  [[nodiscard]] ptrdiff_t slot(ptrdiff_t tap) const { return rank(tap) % period; }
  [[nodiscard]] ptrdiff_t shift(ptrdiff_t tap) const { return rank(tap) * step / axis.in_step; }
  // The input at index `i` of slot `slot`, counted from output `first`.
  [[nodiscard]] ptrdiff_t position(ptrdiff_t first, ptrdiff_t slot, ptrdiff_t i) const {
    const ptrdiff_t lowest = axis.in_first + (axis.tap_step < 0 ? (axis.taps - 1) * axis.tap_step : 0);
    return lowest + (first + i) * axis.in_step + (axis.in_step == 1 ? 0 : slot * step % axis.in_step);
  }

  const PhaseAxis& axis;
  ptrdiff_t step;
  ptrdiff_t reach;   // how far behind an output the last of what it sees lies
  ptrdiff_t period;  // slots
};

constexpr ptrdiff_t kTapsAtOnce = 64;
constexpr ptrdiff_t kBand = 1 << 13;  // floats of a copy, about

// Bands of rows of one output channel.
class Bands {
 public:
  Bands(const Convolution& convolution, const Phase& phase)
      : c_(convolution),
        phase_(phase),
        layers_(phase.axes[0].taps),
        rows_(phase.axes[1]),
        columns_(phase.axes[2]) {
    width_ = phase.axes[2].count + columns_.reach;
    follows_ = phase.axes[2].out_stride == 1;
    const ptrdiff_t per_row = std::max<ptrdiff_t>(layers_ * rows_.period * columns_.period * width_, 1);
    const ptrdiff_t most = std::max(kBand / per_row - rows_.reach, rows_.reach + 1);
    const ptrdiff_t bands = (phase.axes[1].count + most - 1) / most;
    band_ = (phase.axes[1].count + bands - 1) / bands;
    bands_ = (phase.axes[1].count + band_ - 1) / band_;
    plane_ = (band_ + rows_.reach) * width_;
    place_taps(0, std::min(phase.taps(), kTapsAtOnce), &first_taps_);
  }

  [[nodiscard]] size_t scratch_floats() const {
    const ptrdiff_t copy = layers_ * rows_.period * columns_.period * plane_;
    return static_cast<size_t>(copy + (follows_ ? 0 : band_ * phase_.axes[2].count)) +
           ukernel::kDepthwiseSlack;
  }
  // An item is a band of all outputs of one input channel.
  [[nodiscard]] size_t items() const {
    return static_cast<size_t>(c_.batch * c_.groups * phase_.axes[0].count * bands_);
  }
  [[nodiscard]] size_t grain() const {
    return grain_of(band_ * phase_.axes[2].count * (phase_.taps() * c_.out_channels + 2));
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
  struct TapPlaces {
    ptrdiff_t copy[kTapsAtOnce];
    ptrdiff_t kernel[kTapsAtOnce];
  };

  void place_taps(ptrdiff_t first, ptrdiff_t count, TapPlaces* places) const {
    const PhaseAxis* axes = phase_.axes;
    for (ptrdiff_t i = 0; i < count; ++i) {
      const ptrdiff_t t2 = (first + i) % axes[2].taps;
      const ptrdiff_t t1 = (first + i) / axes[2].taps % axes[1].taps;
      const ptrdiff_t t0 = (first + i) / axes[2].taps / axes[1].taps;
      places->copy[i] =
          plane_offset(t0, rows_.slot(t1), columns_.slot(t2)) + rows_.shift(t1) * width_ + columns_.shift(t2);
      places->kernel[i] = kernel_offset(phase_, first + i);
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
      // The rows that are in the image lie together.
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
    const float* kernel = c_.weight + group * c_.kernel_group_stride + index * c_.kernel_out_stride;
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
    TapPlaces later_taps;
    const TapPlaces* places = &first_taps_;
    ptrdiff_t done = 0;
    do {
      const ptrdiff_t count = std::min(kTapsAtOnce, taps - done);
      if (done > 0) {
        place_taps(done, count, &later_taps);
        places = &later_taps;
      }
      for (ptrdiff_t i = 0; i < count; ++i) {
        in[i] = copy + places->copy[i];
        weights[i] = kernel[places->kernel[i]];
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
      plane.accumulate = true;
    } while (done < taps);
    if (!follows_) return scatter(out, rows, tile);
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
  ptrdiff_t width_;  // of a row of a copy
  bool follows_;     // outputs of a row lie one after the other
  ptrdiff_t band_;   // rows of outputs
  ptrdiff_t bands_;
  ptrdiff_t plane_;  // floats of a slot
  TapPlaces first_taps_;
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

bool is_depthwise(const Convolution& c) {
  if (c.in_channels != 1 || c.groups == 1) return false;
  // So far that bytes of scratch fit a size_t.
  constexpr ptrdiff_t kReach = 255;
  ptrdiff_t taps = 1;
  for (const ConvolutionAxis& axis : c.axes) {
    if (axis.kernel > kReach || (axis.kernel - 1) * axis.dilation > kReach) return false;
    taps *= axis.kernel;
  }
  return c.axes[2].out + kReach <= (PTRDIFF_MAX >> 13) / taps;
}

bool is_depthwise_rows(const Convolution& c) {
  return is_depthwise(c) && c.out_channels == 1 && has_channels_last(c);
}

size_t packed_depthwise_size(const Convolution& c) {
  const ptrdiff_t taps = c.axes[0].kernel * c.axes[1].kernel * c.axes[2].kernel;
  return static_cast<size_t>(taps * c.groups) * sizeof(float);
}

void pack_depthwise(const Convolution& c, float* packed) {
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    for (ptrdiff_t tap = 0; tap < phase.taps(); ++tap) {
      const float* weight = c.weight + kernel_offset(phase, tap);
      for (ptrdiff_t g = 0; g < c.groups; ++g) *packed++ = weight[g * c.kernel_group_stride];
    }
  }
}

void convolve_depthwise_rows(KernelContext& context, const Convolution& c, const float* packed) {
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    const Strips strips(c, phase, packed);
    context.parallel_for(strips.items(), strips.grain(),
                         [&](size_t begin, size_t end, size_t) { strips.compute(begin, end); });
    packed += phase.taps() * c.groups;
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

}  // namespace rushlight::kernels::optimized
