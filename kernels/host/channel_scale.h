// SPDX-License-Identifier: BSD-3-Clause
// Affine map per channel: y = x * scale[c] + shift[c], for tensors of float32, float16 or bfloat16 in any dim
// order. The common end of batch and group normalization.
#pragma once

#include <cstddef>

#include "kernels/walk/paired_axes.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::host {

// The axes of two tensors of one shape and dtype: the channel axis, and all others merged where strides
// allow.
struct ChannelAxes {
  ScalarType type;
  Axis channel{1, 0, 0};
  PairedAxes others;

  // Channels are dimension 1; the others are the dimensions from `first` on (0 includes the batch), in the
  // order of the input's memory.
  ChannelAxes(const Tensor& input, const Tensor& out, size_t first);

  // True if the channels are adjacent in both tensors (channels-last).
  [[nodiscard]] bool last() const {
    const auto size = static_cast<ptrdiff_t>(element_size(type));
    return channel.input == size && channel.output == size;
  }
};

// Most channels of one call of scale_channels().
inline constexpr size_t kChannelTile = 32;

// Scales n <= kChannelTile channels, starting at `input` and `output`, at every position of the other axes.
// `scale` and `shift` have n elements. One pass over all channels if they are adjacent, otherwise one for
// each channel.
void scale_channels(const ChannelAxes& axes, size_t n, const char* input, char* output, const float* scale,
                    const float* shift);

}  // namespace rushlight::kernels::host
