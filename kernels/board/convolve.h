// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of float32 for cores without wide vectors and with little memory. Reads weights from where
// they are stored, and copies parts of the input to a stack buffer; uses no other memory.
#pragma once

#include "kernels/backs/convolution.h"

namespace rushlight::kernels::board {

// Convolves into `out`; all tensors are float32. With `rectify` it may apply relu as rectify_span() does, and
// returns true if it did; on false the caller has to apply it.
[[nodiscard]] bool convolve_small(const ConvolutionProblem& problem, bool rectify);

}  // namespace rushlight::kernels::board
