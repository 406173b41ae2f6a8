// SPDX-License-Identifier: BSD-3-Clause
// An image is copied once for all of its bands.
#include "kernels/host/convolution/turned.h"

#include <algorithm>

#include "kernels/host/convolution/border.h"
#include "kernels/host/convolution/method.h"
#include "kernels/ukernel/transpose.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);
constexpr ptrdiff_t kElements = 1 << 14;   // fewest elements for a thread
constexpr ptrdiff_t kChannelsAtOnce = 16;  // a cache line

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
  Convolution made = with_turned_outputs(part);
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
