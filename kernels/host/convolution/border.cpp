// SPDX-License-Identifier: BSD-3-Clause
// Copies each row once: zeros, pixels (a memcpy if channels-last, an interleave if channels-first), zeros.
#include "kernels/host/convolution/border.h"

#include <algorithm>
#include <cstring>

#include "kernels/geometry/image_channels.h"
#include "kernels/ukernel/interleave.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kElements = 1 << 15;  // fewest elements for a thread
static_assert(kImageChannels <= static_cast<ptrdiff_t>(ukernel::kInterleavedPlanes));

// The number of positions along the axis that outputs see, padding included.
ptrdiff_t reach(const ConvolutionAxis& axis) {
  return (axis.out - 1) * axis.step + (axis.kernel - 1) * axis.dilation + 1;
}

class Border {
 public:
  Border(const Convolution& c, const float* image, float* to) : c_(c), image_(image), to_(to) {
    for (size_t i = 0; i < kSpatial; ++i) size_[i] = reach(c.axes[i]);
    const ConvolutionAxis& row = c.axes[2];
    // Outputs may see less than the whole padding, or not all of the input.
    before_ = std::min(row.pad, size_[2]);
    seen_ = std::clamp<ptrdiff_t>(size_[2] - before_, 0, row.in);
  }

  [[nodiscard]] ptrdiff_t rows() const { return size_[0] * size_[1]; }
  [[nodiscard]] ptrdiff_t row_floats() const { return size_[2] * c_.in_channels; }

  void copy_row(ptrdiff_t index) const {
    const ptrdiff_t z = index / size_[1] - c_.axes[0].pad;
    const ptrdiff_t y = index % size_[1] - c_.axes[1].pad;
    float* to = to_ + index * row_floats();
    // A row of padding.
    if (z < 0 || z >= c_.axes[0].in || y < 0 || y >= c_.axes[1].in) {
      std::fill(to, to + row_floats(), 0.0F);
      return;
    }
    const float* from = image_ + z * c_.axes[0].in_stride + y * c_.axes[1].in_stride;
    std::fill(to, to + before_ * c_.in_channels, 0.0F);
    copy_pixels(to + before_ * c_.in_channels, from);
    std::fill(to + (before_ + seen_) * c_.in_channels, to + row_floats(), 0.0F);
  }

 private:
  void copy_pixels(float* to, const float* from) const {
    const ptrdiff_t stride = c_.axes[2].in_stride;
    const ptrdiff_t apart = c_.in_channel_stride;
    // Three layouts: pixels in sequence, separate planes of few channels, anything else.
    if ((apart == 1 || c_.in_channels == 1) && stride == c_.in_channels) {
      std::memcpy(to, from, static_cast<size_t>(seen_ * c_.in_channels) * sizeof(float));
    } else if (stride == 1 && c_.in_channels <= static_cast<ptrdiff_t>(ukernel::kInterleavedPlanes)) {
      ukernel::interleave(static_cast<size_t>(seen_), static_cast<size_t>(c_.in_channels), from, apart, to);
    } else {
      for (ptrdiff_t x = 0; x < seen_; ++x) {
        for (ptrdiff_t c = 0; c < c_.in_channels; ++c) *to++ = from[x * stride + c * apart];
      }
    }
  }

  const Convolution& c_;
  const float* image_;
  float* to_;
  ptrdiff_t size_[kSpatial];
  ptrdiff_t before_;  // pixels of left border
  ptrdiff_t seen_;    // pixels of the input that outputs see in a row
};

}  // namespace

size_t bordered_size(const Convolution& c) {
  ptrdiff_t floats = c.in_channels;
  for (const ConvolutionAxis& axis : c.axes) floats *= reach(axis);
  return static_cast<size_t>(floats) * sizeof(float);
}

Convolution add_border(KernelContext& context, const Convolution& c, ptrdiff_t index, float* image) {
  const Border border(c, c.input + index * c.in_batch_stride, image);
  const ptrdiff_t grain = std::max<ptrdiff_t>(kElements / std::max<ptrdiff_t>(border.row_floats(), 1), 1);
  context.parallel_for(static_cast<size_t>(border.rows()), static_cast<size_t>(grain),
                       [&](size_t begin, size_t end, size_t) {
                         for (size_t row = begin; row < end; ++row) {
                           border.copy_row(static_cast<ptrdiff_t>(row));
                         }
                       });
  Convolution made = c;
  made.input = image;
  made.out = c.out + index * c.out_batch_stride;
  if (c.residual != nullptr) made.residual = c.residual + index * c.out_batch_stride;
  made.batch = 1;
  // The copy is channels-last without padding, whatever the layout of the input.
  made.in_channel_stride = 1;
  ptrdiff_t stride = c.in_channels;
  for (size_t i = kSpatial; i-- > 0;) {
    ConvolutionAxis& axis = made.axes[i];
    axis.in = reach(axis);
    axis.pad = 0;
    axis.in_stride = stride;
    stride *= axis.in;
  }
  return made;
}

}  // namespace rushlight::kernels::host
