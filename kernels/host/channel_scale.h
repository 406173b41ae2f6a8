// SPDX-License-Identifier: BSD-3-Clause
// x * scale + shift, each channel with numbers of its own, of tensors in any dim order.
#pragma once

#include <cstddef>

#include "kernels/walk/paired_axes.h"

namespace rushlight::kernels::host {

// The channels of two float32 tensors of one shape: their own dimension, and all others.
struct ChannelAxes {
  Axis channel{1, 0, 0};
  PairedAxes others;

  // Of dimension 1 and those from `first` on.
  ChannelAxes(const Tensor& input, const Tensor& out, size_t first);

  // Whether a position's channels follow each other.
  [[nodiscard]] bool last() const {
    return channel.input == ptrdiff_t{sizeof(float)} && channel.output == ptrdiff_t{sizeof(float)};
  }
};

// n channels, the first of them at `input` and `output`, at every step of the other dimensions.
void scale_channels(const ChannelAxes& axes, size_t n, const char* input, char* output, const float* scale,
                    const float* shift);

}  // namespace rushlight::kernels::host
