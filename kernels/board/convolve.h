// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of float32 and float16 for cores without wide vectors and with little memory. Reads weights
// from where they are stored, and copies parts of the input to a stack buffer; uses no other memory.
#pragma once

#include "kernels/backs/convolution.h"
#include "runtime/base/error.h"

namespace rushlight::kernels::board {

// Convolves into `out`. With `rectify` it may apply relu as rectify_span() does; the caller has to apply it
// unless *is_rectified. InvalidType if the dtype is not selected.
Error convolve_small(const ConvolutionProblem& problem, bool rectify, bool* is_rectified);

}  // namespace rushlight::kernels::board
