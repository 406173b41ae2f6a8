// SPDX-License-Identifier: BSD-3-Clause
// Convolution of channels-last images as matrix products: pixels are the rows, packed panels of weights the
// right-hand side. Uses no memory beyond a panel and a strip of the image on the stack. The input is read in
// place, and copied to the strip only at borders and if its channels are not adjacent.
#pragma once

#include "kernels/geometry/convolution_geometry.h"
#include "kernels/geometry/image_channels.h"

namespace rushlight::kernels::board {

// One group of one element of the batch, or all groups for convolve_channels(). The pointers are at the first
// channel, its weight and its bias.
struct PixelsConvolution {
  const ConvolutionGeometry* geometry;
  const float* in;
  const float* weight;
  const float* bias;  // null: zeros
  float* out;
  bool rectify;  // apply relu; only if kPanelRectifies
};

// True for two-dimensional, not transposed convolutions whose output channels are adjacent, and whose input
// channels are adjacent or at most kImageChannels.
[[nodiscard]] constexpr bool takes_pixels(const ConvolutionGeometry& geometry) {
  return is_flat(geometry) && !geometry.transposed && geometry.out_channel_stride == 1 &&
         (geometry.in_channel_stride == 1 || geometry.in_channels <= kImageChannels);
}

// Computes the convolution. Precondition: takes_pixels().
void convolve_pixels(const PixelsConvolution& convolution);

}  // namespace rushlight::kernels::board
