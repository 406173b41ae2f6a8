// SPDX-License-Identifier: BSD-3-Clause
// Portable quantized convolution: one output of one channel at a time, in any layout. Defines the bits that
// all backs reproduce.
#pragma once

#include <optional>

#include "kernels/geometry/convolution_shape.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = requantize(input * weight + bias), with padding equal to input_zero_point. The bias contains the
// contribution of the zero point, -input_zero_point * (sum of the channel's weights), so products use
// elements as stored. Input and `out` have one dtype of kQuantizedElements, the weight is int8, and `out` has
// its shape. The front has proven that `to` does not overflow.
struct IntegerConvolution {
  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  ConvolutionArguments arguments;
  const Tensor& out;
  int32_t input_zero_point;
  const ukernel::Requantization& to;  // by output channel; not set to prepare
};

// The number of products in one output: taps * input channels of the group. Padding counts.
[[nodiscard]] size_t products_of_sum(const IntegerConvolution& convolution);

// Computes the convolution. InvalidType if no selected operator has the dtype. Cost: a border test for each
// tap besides its multiply-adds.
Error convolve_integers(const IntegerConvolution& convolution);

}  // namespace rushlight::kernels
