// SPDX-License-Identifier: BSD-3-Clause
// A band is a part of the outermost axis that has several outputs, so that its results stay in the L2 cache
// until they are transposed. Transposed convolutions, whose outputs are in phases, have one band.
#include "kernels/host/convolution/turned.h"

#include <algorithm>

#include "kernels/geometry/image_channels.h"
#include "kernels/host/convolution/border.h"
#include "kernels/host/convolution/depthwise.h"
#include "kernels/host/convolution/rows.h"
#include "kernels/ukernel/transpose.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);
constexpr ptrdiff_t kBand = 1 << 16;       // floats of results
constexpr ptrdiff_t kTurnedTaps = 25;      // of depthwise kernels that gain
constexpr ptrdiff_t kElements = 1 << 15;   // fewest elements for a thread
constexpr ptrdiff_t kChannelsAtOnce = 16;  // a cache line

ptrdiff_t channels_of(const Convolution& c) { return c.groups * c.out_channels; }

ptrdiff_t taps_of(const Convolution& c) { return c.axes[0].kernel * c.axes[1].kernel * c.axes[2].kernel; }

ptrdiff_t pixels_of(const Convolution& c) { return c.axes[0].out * c.axes[1].out * c.axes[2].out; }

// The outermost axis with several outputs, else the last one.
size_t banded_axis(const Convolution& c) {
  size_t axis = 0;
  while (axis + 1 < kSpatial && c.axes[axis].out <= 1) ++axis;
  return axis;
}

ptrdiff_t band_length(const Convolution& c, size_t axis) {
  const ptrdiff_t out = c.axes[axis].out;
  if (c.transposed) return out;
  const ptrdiff_t each = std::max<ptrdiff_t>(channels_of(c) * (pixels_of(c) / out), 1);
  const ptrdiff_t most = std::clamp<ptrdiff_t>(kBand / each, 1, out);
  // Bands of nearly equal length.
  const ptrdiff_t bands = (out + most - 1) / most;
  return (out + bands - 1) / bands;
}

// Gives the outputs channels-last strides.
void turn_outputs(Convolution* c) {
  c->out_channel_stride = 1;
  ptrdiff_t stride = channels_of(*c);
  for (size_t i = kSpatial; i-- > 0;) {
    c->axes[i].out_stride = stride;
    stride *= c->axes[i].out;
  }
}

// Calls copy(first pixel, count, offset in a plane) for each span of outputs that is contiguous in a plane.
template <class Copy>
void for_each_span(const Convolution& c, Copy copy) {
  // Axes whose outputs follow each other in both forms are one span.
  ptrdiff_t length = c.axes[2].out;
  size_t outer = kSpatial - 1;
  while (outer > 0 &&
         (c.axes[outer - 1].out == 1 || c.axes[outer - 1].out_stride == length * c.axes[2].out_stride)) {
    length *= c.axes[--outer].out;
  }
  const ptrdiff_t rows = outer > 1 ? c.axes[1].out : 1;
  const ptrdiff_t layers = outer > 0 ? c.axes[0].out : 1;
  for (ptrdiff_t z = 0; z < layers; ++z) {
    for (ptrdiff_t y = 0; y < rows; ++y) {
      copy((z * rows + y) * length, length, z * c.axes[0].out_stride + y * c.axes[1].out_stride);
    }
  }
}

}  // namespace

bool gains_by_turning(const Convolution& c) {
  if (!can_have_border(c)) return false;
  // The outputs of a row are adjacent: they are channels-first.
  if (c.axes[2].out_stride != 1 || c.out_channel_stride == 1) return false;
  if (is_depthwise(c)) return c.out_channels == 1 && taps_of(c) >= kTurnedTaps;
  // Costs in relation to a contiguous copy: a gather of every second element is slower, of others much
  // slower, and so is a transposed copy.
  const ptrdiff_t step = c.axes[2].step;
  const ptrdiff_t gather = step == 1 ? 1 : c.transposed || step == 2 ? 2 : 6;
  const ptrdiff_t inputs = c.groups * c.in_channels;
  const ptrdiff_t outputs = channels_of(c) * pixels_of(c);
  const ptrdiff_t seen = c.transposed ? pixels_of(c) * taps_of(c) / (c.axes[1].step * c.axes[2].step)
                                      : pixels_of(c) * taps_of(c);
  const ptrdiff_t copies =
      static_cast<ptrdiff_t>(bordered_size(c)) / kFloat * (inputs <= kImageChannels ? 1 : 2) + 2 * outputs;
  return seen * inputs * gather >= copies;
}

Convolution turned(const Convolution& c) {
  Convolution made = with_border(c);
  const size_t axis = banded_axis(c);
  made.axes[axis].out = band_length(c, axis);
  turn_outputs(&made);
  return made;
}

size_t turned_size(const Convolution& c) {
  const Convolution band = turned(c);
  return bordered_size(c) + 64 + static_cast<size_t>(channels_of(c) * pixels_of(band)) * sizeof(float);
}

Turned::Turned(KernelContext& context, const Convolution& convolution, void* scratch)
    : context_(context),
      c_(convolution),
      image_(convolution),
      pixels_(static_cast<float*>(scratch)),
      axis_(banded_axis(convolution)),
      length_(band_length(convolution, axis_)),
      bands_((convolution.axes[axis_].out + length_ - 1) / length_) {
  results_ = pixels_ + (bordered_size(convolution) + 63) / 64 * 64 / sizeof(float);
}

Convolution Turned::part_of(ptrdiff_t band) const {
  Convolution part = image_;
  ConvolutionAxis& axis = part.axes[axis_];
  const ptrdiff_t first = band % bands_ * length_;
  if (!c_.transposed) part.input += first * axis.step * axis.in_stride;
  part.out += first * axis.out_stride;
  if (part.residual != nullptr) part.residual += first * axis.out_stride;
  axis.out = std::min(length_, axis.out - first);
  return part;
}

Convolution Turned::start(ptrdiff_t band) {
  if (band % bands_ == 0) image_ = add_border(context_, c_, band / bands_, pixels_);
  Convolution part = part_of(band);
  Convolution made = part;
  turn_outputs(&made);
  made.out = results_;
  if (part.residual == nullptr) return made;
  // The residual is where the results will be.
  made.residual = results_;
  const ptrdiff_t channels = channels_of(c_);
  for_each_span(part, [&](ptrdiff_t pixel, ptrdiff_t length, ptrdiff_t offset) {
    ukernel::transpose(static_cast<size_t>(channels), static_cast<size_t>(length), sizeof(float),
                       reinterpret_cast<const char*>(part.residual + offset),
                       part.out_channel_stride * kFloat, reinterpret_cast<char*>(results_ + pixel * channels),
                       channels * kFloat);
  });
  return made;
}

void Turned::finish(ptrdiff_t band) const {
  const Convolution part = part_of(band);
  const ptrdiff_t channels = channels_of(c_);
  const ptrdiff_t blocks = (channels + kChannelsAtOnce - 1) / kChannelsAtOnce;
  const ptrdiff_t grain = kElements / std::max<ptrdiff_t>(pixels_of(part) * kChannelsAtOnce, 1) + 1;
  context_.parallel_for(
      static_cast<size_t>(blocks), static_cast<size_t>(grain), [&](size_t begin, size_t end, size_t) {
        const ptrdiff_t first = static_cast<ptrdiff_t>(begin) * kChannelsAtOnce;
        const ptrdiff_t last = std::min(static_cast<ptrdiff_t>(end) * kChannelsAtOnce, channels);
        for_each_span(part, [&](ptrdiff_t pixel, ptrdiff_t length, ptrdiff_t offset) {
          ukernel::transpose(static_cast<size_t>(length), static_cast<size_t>(last - first), sizeof(float),
                             reinterpret_cast<const char*>(results_ + pixel * channels + first),
                             channels * kFloat,
                             reinterpret_cast<char*>(part.out + offset + first * part.out_channel_stride),
                             part.out_channel_stride * kFloat);
        });
      });
}

}  // namespace rushlight::kernels::host
