// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of 16-bit floats by the methods for float32: input, weight, bias and residual are converted to
// float32 in scratch memory, and the sums are rounded once, when the result is converted back. Cost: one pass
// over each tensor; scratch memory of the float32 tensors. A constant weight is converted at load.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// For prepare functions: as prepare_convolution(), for tensors of 16-bit floats. `residual` tells whether the
// call may have one.
void prepare_widened(KernelContext& context, const ConvolutionProblem& problem, bool residual);

// Computes `convolution`, which make_convolution() made of the tensors of `problem`: its addresses are
// replaced. The residual, if any, has the strides of `out`. Results as convolve() in algorithm.h.
[[nodiscard]] std::optional<Error> convolve_widened(KernelContext& context, const ConvolutionProblem& problem,
                                                    Convolution convolution, const Tensor* residual);

}  // namespace rushlight::kernels::host
