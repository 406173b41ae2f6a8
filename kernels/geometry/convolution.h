// SPDX-License-Identifier: BSD-3-Clause
// Convolutions in one to three dimensions, which the operator and its gradient share: the gradient of an
// input is the convolution that goes the other way.
#pragma once

#include <optional>

#include "kernels/geometry/convolution_shape.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Convolves into `out`, which has the dtype of the input. Arguments and shapes were checked; the spatial
// sizes of `out` may be any from which a kernel reaches the input. InvalidType for a dtype not selected.
Error convolve(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
               const ConvolutionArguments& arguments, const Tensor& out);

}  // namespace rushlight::kernels
