// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of float32 for cores without wide vectors and with little memory: weights are read where they
// are, inputs are copied together a piece at a time on the stack, no other memory is used.
#pragma once

#include <optional>

#include "kernels/shared/convolution.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::optimized {

// Convolves into `out`. Arguments and shapes were checked, as convolution_shape() does, and all is float32.
// Asked to `rectify`, it may make what is below zero zero, as rectify_run() does; whether it did.
[[nodiscard]] bool convolve_small(const Tensor& input, const Tensor& weight,
                                  const std::optional<Tensor>& bias, const ConvolutionArguments& arguments,
                                  bool rectify, const Tensor& out);

}  // namespace rushlight::kernels::optimized
