// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of int8, by pointers to what each output sees.
#pragma once

#include "kernels/backs/quantized_convolution.h"
#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels::board {

// Whether convolve_int8_channels() takes convolutions of this geometry.
[[nodiscard]] bool takes_int8_channels(const ConvolutionGeometry& geometry);
void convolve_int8_channels(const ConvolutionGeometry& geometry, const QuantizedConvolutionProblem& problem);

}  // namespace rushlight::kernels::board
