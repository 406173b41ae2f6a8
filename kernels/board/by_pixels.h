// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of images whose channels are adjacent: pixels are the rows of products with panels of weights.
#pragma once

#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels::board {

// One group of one element of the batch.
struct PixelsConvolution {
  const ConvolutionGeometry* geometry;
  const float* in;
  const float* weight;
  const float* bias;  // or null
  float* out;
  bool rectify;  // only if kPanelRectifies
};

// Whether the numbers of pixels are adjacent in the output, and in the input or few there.
[[nodiscard]] bool goes_by_pixels(const ConvolutionGeometry& geometry);

void convolve_pixels(const PixelsConvolution& convolution);

}  // namespace rushlight::kernels::board
