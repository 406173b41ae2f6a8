// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of integers where no back computes them: one output of one channel at a time, any layout.
#pragma once

#include <optional>

#include "kernels/geometry/convolution_shape.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = quantized(input * weight + bias), where the input is input_zero_point outside of the image. Input and
// `out` have one dtype of kQuantizedNumbers, the weight is int8, and `out` has its shape; what `to` says was
// proven.
struct IntegerConvolution {
  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  ConvolutionArguments arguments;
  const Tensor& out;
  int32_t input_zero_point;
  const ukernel::Requantization& to;  // by output channels; not set to prepare
};

// How many products one output is a sum of.
[[nodiscard]] size_t products_of_sum(const IntegerConvolution& convolution);

// InvalidType for a dtype that no selected operator has.
Error convolve_integers(const IntegerConvolution& convolution);

}  // namespace rushlight::kernels
