// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of float32 for cores without wide vectors and with little memory: weights are read where they
// are, inputs are copied together a piece at a time on the stack, no other memory is used.
#pragma once

#include "kernels/backs/convolution.h"

namespace rushlight::kernels::board {

// Convolves into `out`, all of float32. Asked to `rectify`, it may make what is below zero zero, as
// rectify_span() does; returns true if it did.
[[nodiscard]] bool convolve_small(const ConvolutionProblem& problem, bool rectify);

}  // namespace rushlight::kernels::board
