// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of float64 and of 16-bit floats as matrix products after im2col. Blocks of output positions
// are gathered, multiplied by the weights and stored.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// True if a convolution of 16-bit floats takes less time by this method than in float32: the processor
// multiplies the dtype as it is, and the convolution is pointwise, so that nothing is gathered, or has enough
// products for each gathered input.
[[nodiscard]] bool gains_by_columns(const Convolution& convolution, ScalarType type);

// For prepare functions: requests the scratch memory of a call.
void prepare_columns(KernelContext& context, const Convolution& convolution, ScalarType type);

// Computes the convolution without a residual, for float64 also without bounds and activation. Its
// addresses point to elements of `type`. Returns false, without effect, if scratch memory is too small.
[[nodiscard]] bool convolve_columns(KernelContext& context, const Convolution& convolution, ScalarType type);

}  // namespace rushlight::kernels::host
