// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution of channels-last images with one output channel for each input channel. Packs the
// weights of several channels on the stack.
#pragma once

#include "kernels/board/by_pixels.h"

namespace rushlight::kernels::board {

inline constexpr ptrdiff_t kMostChannelTaps = 32;  // of a kernel

// True for one input channel and one output channel in each group, in two dimensions, if channels are
// adjacent in input and output and the kernel has at most kMostChannelTaps taps.
[[nodiscard]] constexpr bool takes_channels(const ConvolutionGeometry& geometry) {
  return is_flat(geometry) && !geometry.transposed && geometry.in_channels == 1 &&
         geometry.out_channels == 1 && geometry.groups > 1 && geometry.in_channel_stride == 1 &&
         geometry.out_channel_stride == 1 && geometry.taps() <= kMostChannelTaps;
}

// Computes all groups of one element of the batch. Precondition: takes_channels().
void convolve_channels(const PixelsConvolution& convolution);

}  // namespace rushlight::kernels::board
