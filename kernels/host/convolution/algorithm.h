// SPDX-License-Identifier: BSD-3-Clause
// Chooses the algorithm of a convolution in float32, by its shape and layout.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// For a kernel's prepare function: packs the weight, where it is a constant and its algorithm needs that, and
// says how much scratch a call takes.
void prepare_convolution(KernelContext& context, const Convolution& convolution, bool constant_weight);

// False when there is too little scratch for any algorithm; nothing was done then.
[[nodiscard]] bool convolve(KernelContext& context, const Convolution& convolution);

}  // namespace rushlight::kernels::host
