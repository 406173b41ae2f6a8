// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of integers where no back computes them: one output of one channel at a time, any layout.
#pragma once

#include "kernels/backs/quantized_convolution.h"
#include "runtime/base/error.h"

namespace rushlight::kernels {

// How many products one output is a sum of.
[[nodiscard]] size_t products_of_sum(const QuantizedConvolutionProblem& problem);

// InvalidType for a dtype that no selected operator has.
Error convolve_integers(const QuantizedConvolutionProblem& problem);

}  // namespace rushlight::kernels
