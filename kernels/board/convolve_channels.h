// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of images whose channels are adjacent, of one output channel for each input channel.
#pragma once

#include "kernels/board/by_pixels.h"

namespace rushlight::kernels::board {

// Whether the numbers of pixels are adjacent in input and output, and the kernel is not too large.
[[nodiscard]] bool goes_by_channels(const ConvolutionGeometry& geometry);

// All groups of one element of the batch.
void convolve_channels(const PixelsConvolution& convolution);

}  // namespace rushlight::kernels::board
