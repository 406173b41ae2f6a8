// SPDX-License-Identifier: BSD-3-Clause
// Convolutions in one to three dimensions, for the operator and its gradient: the gradient of the input is
// the convolution with `transposed` inverted.
#pragma once

#include <optional>

#include "kernels/geometry/convolution_shape.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input * weight + bias, for any strides. `out` has the dtype of the input, and convolution_shape() has
// checked the arguments; the spatial sizes of `out` may differ from it as long as every window overlaps the
// input. InvalidType if the dtype is not selected. Cost: one multiply-add for each output, input channel of
// the group and tap.
Error convolve(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
               const ConvolutionArguments& arguments, const Tensor& out);

}  // namespace rushlight::kernels
