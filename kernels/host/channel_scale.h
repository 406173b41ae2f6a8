// SPDX-License-Identifier: BSD-3-Clause
// Affine map per channel: y = x * scale[c] + shift[c], for tensors of float32, float16 or bfloat16 in any dim
// order. The common end of batch and group normalization.
#pragma once

#include <cstddef>

#include "kernels/host/float_reduction.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::host {

// Most adjacent elements that are one row of channels.
inline constexpr size_t kChannelColumns = kFoldTile;

// The axes of two tensors of one shape and dtype: the channel axis, and all others merged where strides
// allow. Short spans of adjacent channels ([N, C, 5]) are rows of C * 5 columns: `span` columns belong to
// each channel then, and `others` has the outer axes only. Calls for each span would take most of the time.
struct ChannelAxes {
  ScalarType type;
  Axis channel{1, 0, 0};
  size_t span = 1;
  PairedAxes others;

  // Channels are dimension 1; the others are the dimensions from `first` on (0 includes the batch), in the
  // order of the input's memory.
  ChannelAxes(const Tensor& input, const Tensor& out, size_t first);

  // Channels to treat together: several if they are adjacent in both tensors (channels-last, short spans).
  [[nodiscard]] size_t together() const {
    const auto size = static_cast<ptrdiff_t>(element_size(type) * span);
    return channel.input == size && channel.output == size ? kChannelColumns / span : 1;
  }
  // Writes the value of each of n channels to its columns. Returns `values` itself if each has one.
  const float* columns(size_t n, const float* values, float* columns) const;
};

// Most channels of one call of scale_channels().
inline constexpr size_t kChannelTile = 32;

// Scales n <= kChannelTile channels, starting at `input` and `output`, at every position of the other axes.
// `scale` and `shift` have n elements. One pass over all channels if they are adjacent, otherwise one for
// each channel.
void scale_channels(const ChannelAxes& axes, size_t n, const char* input, char* output, const float* scale,
                    const float* shift);

}  // namespace rushlight::kernels::host
