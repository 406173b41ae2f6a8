// SPDX-License-Identifier: BSD-3-Clause
// Affine map per channel: y = x * scale[c] + shift[c], for float32 tensors in any dim order. The common end
// of batch and group normalization.
#pragma once

#include <cstddef>

#include "kernels/walk/paired_axes.h"

namespace rushlight::kernels::host {

// The axes of two float32 tensors of one shape: the channel axis, and all others merged where strides allow.
struct ChannelAxes {
  Axis channel{1, 0, 0};
  PairedAxes others;

  // Channels are dimension 1; the others are the dimensions from `first` on (0 includes the batch), in the
  // order of the input's memory.
  ChannelAxes(const Tensor& input, const Tensor& out, size_t first);

  // True if the channels are adjacent in both tensors (channels-last).
  [[nodiscard]] bool last() const {
    return channel.input == ptrdiff_t{sizeof(float)} && channel.output == ptrdiff_t{sizeof(float)};
  }
};

// Scales n channels, starting at `input` and `output`, at every position of the other axes. `scale` and
// `shift` have n elements. One pass over all channels if they are adjacent, otherwise one for each channel.
void scale_channels(const ChannelAxes& axes, size_t n, const char* input, char* output, const float* scale,
                    const float* shift);

}  // namespace rushlight::kernels::host
