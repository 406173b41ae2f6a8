// SPDX-License-Identifier: BSD-3-Clause
// Problems of convolutions of integers, and their backs. Input and `out` have one dtype of kQuantizedNumbers,
// the weight is int8, and `out` has its shape; what `to` says was proven.
#pragma once

#include "kernels/backs/convolution.h"
#include "kernels/ukernel/requantize.h"

namespace rushlight::kernels {

// out = quantized(input * weight + bias), where the input is input_zero_point outside of the image.
struct QuantizedConvolutionProblem : ConvolutionProblem {
  int32_t input_zero_point;
  const ukernel::Requantization& to;  // by output channels; not set to prepare
};

namespace host {

// quantized_convolution.cpp: int8 and int16. They decline when there is too little scratch memory.
std::optional<Error> quantized_convolution(KernelContext& context,
                                           const QuantizedConvolutionProblem& problem);
Error quantized_convolution_prepare(KernelContext& context, const QuantizedConvolutionProblem& problem);

}  // namespace host

namespace board {

// quantized_convolution.cpp: int8 and int16. It declines where the elements of a channel's weights are apart
// in other steps than one, and where what one output sees, or weights that have to be copied together, are
// too long for the stack.
std::optional<Error> quantized_convolution(KernelContext& context,
                                           const QuantizedConvolutionProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
