// SPDX-License-Identifier: BSD-3-Clause
// Copies each row once: zeros, pixels (a memcpy if channels-last, an interleave or transposed copy if
// channels-first), zeros.
#include "kernels/host/convolution/border.h"

#include <algorithm>
#include <cstring>

#include "kernels/geometry/image_channels.h"
#include "kernels/host/convolution/method.h"
#include "kernels/ukernel/interleave.h"
#include "kernels/ukernel/transpose.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kElements = 1 << 13;  // fewest elements for a thread
static_assert(kImageChannels <= static_cast<ptrdiff_t>(ukernel::kInterleavedPlanes));

// The pixels of border before the input.
ptrdiff_t border_of(const Convolution& c, size_t i) { return c.transposed ? 0 : c.axes[i].pad; }

class Border {
 public:
  Border(const Convolution& c, const float* image, float* to)
      : c_(c), image_(image), to_(to), channels_(c.groups * c.in_channels) {
    for (size_t i = 0; i < kSpatial; ++i) size_[i] = seen_length(c, i);
    // Outputs may see less than the whole padding, or not all of the input.
    before_ = std::min(border_of(c, 2), size_[2]);
    seen_ = std::clamp<ptrdiff_t>(size_[2] - before_, 0, c.axes[2].in);
  }

  [[nodiscard]] ptrdiff_t rows() const { return size_[0] * size_[1]; }
  [[nodiscard]] ptrdiff_t row_floats() const { return size_[2] * channels_; }

  void copy_row(ptrdiff_t index) const {
    const ptrdiff_t z = index / size_[1] - border_of(c_, 0);
    const ptrdiff_t y = index % size_[1] - border_of(c_, 1);
    float* to = to_ + index * row_floats();
    // A row of padding.
    if (z < 0 || z >= c_.axes[0].in || y < 0 || y >= c_.axes[1].in) {
      std::fill(to, to + row_floats(), 0.0F);
      return;
    }
    const float* from = image_ + z * c_.axes[0].in_stride + y * c_.axes[1].in_stride;
    std::fill(to, to + before_ * channels_, 0.0F);
    copy_pixels(to + before_ * channels_, from);
    std::fill(to + (before_ + seen_) * channels_, to + row_floats(), 0.0F);
  }

 private:
  void copy_pixels(float* to, const float* from) const {
    const ptrdiff_t stride = c_.axes[2].in_stride;
    const ptrdiff_t apart = c_.in_channel_stride;
    // Layouts: pixels in sequence, separate planes, anything else.
    if ((apart == 1 || channels_ == 1) && stride == channels_) {
      std::memcpy(to, from, static_cast<size_t>(seen_ * channels_) * sizeof(float));
    } else if (stride == 1 && channels_ <= static_cast<ptrdiff_t>(ukernel::kInterleavedPlanes)) {
      ukernel::interleave(static_cast<size_t>(seen_), static_cast<size_t>(channels_), from, apart, to);
    } else if (stride == 1) {
      constexpr ptrdiff_t kFloat = sizeof(float);
      ukernel::transpose(static_cast<size_t>(channels_), static_cast<size_t>(seen_), kFloat,
                         reinterpret_cast<const char*>(from), apart * kFloat, reinterpret_cast<char*>(to),
                         channels_ * kFloat);
    } else {
      for (ptrdiff_t x = 0; x < seen_; ++x) {
        for (ptrdiff_t c = 0; c < channels_; ++c) *to++ = from[x * stride + c * apart];
      }
    }
  }

  const Convolution& c_;
  const float* image_;
  float* to_;
  ptrdiff_t channels_;  // of all groups
  ptrdiff_t size_[kSpatial];
  ptrdiff_t before_;  // pixels of left border
  ptrdiff_t seen_;    // pixels of the input that outputs see in a row
};

}  // namespace

Convolution add_border(KernelContext& context, const Convolution& c, ptrdiff_t index, float* image) {
  const Border border(c, c.input + index * c.in_batch_stride, image);
  const ptrdiff_t grain = std::max<ptrdiff_t>(kElements / std::max<ptrdiff_t>(border.row_floats(), 1), 1);
  context.parallel_for(static_cast<size_t>(border.rows()), static_cast<size_t>(grain),
                       [&](size_t begin, size_t end, size_t) {
                         for (size_t row = begin; row < end; ++row) {
                           border.copy_row(static_cast<ptrdiff_t>(row));
                         }
                       });
  Convolution made = with_border(c);
  made.input = image;
  made.out = c.out + index * c.out_batch_stride;
  if (c.residual != nullptr) made.residual = c.residual + index * c.out_batch_stride;
  return made;
}

}  // namespace rushlight::kernels::host
